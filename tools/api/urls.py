"""Routes of this app's API."""

from django.urls import path

from tools.api import mcp, views

urlpatterns = [
    path("workspaces/<uuid:workspace_id>/tools", views.WorkspaceTools.as_view()),
    path("workspaces/<uuid:workspace_id>/tools/<str:tool>/policy", views.ToolPolicies.as_view()),
    path("workspaces/<uuid:workspace_id>/http-servers", views.NewServers.as_view()),
    path("workspaces/<uuid:workspace_id>/openapi-documents", views.Documents.as_view()),
    path("workspaces/<uuid:workspace_id>/tool-jobs/<uuid:job_id>", views.OneJob.as_view()),
    path("tool-servers/<uuid:server_id>", views.OneServer.as_view()),
    path("tool-servers/<uuid:server_id>/tools", views.ServerTools.as_view()),
    path("tool-servers/<uuid:server_id>/operations", views.ServerOperations.as_view()),
    path("workspace-tools/<uuid:tool_id>", views.OneTool.as_view()),
    path("workspace-tools/<uuid:tool_id>/approval", views.ToolApproval.as_view()),
    path("workspace-tools/<uuid:tool_id>/test", views.ToolTest.as_view()),
    path("workspaces/<uuid:workspace_id>/tool-servers", views.Servers.as_view()),
    path("workspaces/<uuid:workspace_id>/mcp-servers", mcp.MCPServers.as_view()),
    path("mcp-servers/<uuid:server_id>/refresh", mcp.Refresh.as_view()),
    path("mcp-servers/<uuid:server_id>/sign-in", mcp.StartMCPSignIn.as_view()),
    path("mcp-servers/<uuid:server_id>/sign-in/return", mcp.SignInReturn.as_view(), name="mcp-sign-in-return"),
]

"""Tools from OpenAPI documents, which strangers write."""

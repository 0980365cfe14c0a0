"""Factories of rows, one module for each app.

A factory is for a row that a test needs as its starting point. Where creating a row is itself a service with rules of its own
(posting a message, creating a workspace or an agent, starting a run), tests call the service.
"""

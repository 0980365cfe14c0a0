"""Tools from OpenAPI documents of other organisations."""

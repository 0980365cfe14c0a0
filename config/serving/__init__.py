"""How requests come in: the server and its limits, the hop to Django, health, and the web app's page."""

"""An installation with one tool more: it takes the process down that makes its call (RUN9)."""

"""Outside programs of agents: their tokens, the wakes that they answer, and the webhooks that tell them."""

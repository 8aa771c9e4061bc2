"""The demo: a refund desk whose tools do real things, and a scripted model that asks for them."""

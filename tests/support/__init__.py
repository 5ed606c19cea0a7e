"""What tests stand on: a scripted model, the real agents without a network, and a terminal."""

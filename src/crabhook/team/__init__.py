"""Who may sit at a desk from elsewhere: people, devices, machines, and how they are let in."""

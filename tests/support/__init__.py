"""What tests share: projects, services on loopback, clients and people who answer."""

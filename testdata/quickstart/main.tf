# A configuration that installs with no network at all: packages of both
# providers lie in terraform.d/plugins, next to this file.

terraform {
  required_providers {
    greeting = {
      source  = "example.com/quickstart/greeting"
      version = "~> 1.2"
    }
    farewell = {
      source = "example.com/quickstart/farewell"
    }
  }
}

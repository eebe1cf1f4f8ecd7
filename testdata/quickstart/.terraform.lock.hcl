# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "example.com/quickstart/farewell" {
  version = "0.3.1"
  hashes = [
    "h1:7oLYQ5PALIitlwHksrdNI9VzK4k28fkOeOG7xrO7qVE=",
  ]
}

provider "example.com/quickstart/greeting" {
  version     = "1.2.0"
  constraints = "~> 1.2"
  hashes = [
    "h1:QUma0r3N1KVRUf7ra+GfiIxW9ulqEHHgKlyGs4k/VTo=",
  ]
}

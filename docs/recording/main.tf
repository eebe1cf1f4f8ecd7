terraform {
  required_providers {
    aws        = { source = "hashicorp/aws", version = "~> 6.21" }
    azurerm    = { source = "hashicorp/azurerm", version = "~> 4.52" }
    kubernetes = { source = "hashicorp/kubernetes", version = "~> 2.38" }
    random     = { source = "hashicorp/random", version = "~> 3.7" }
  }
}

module "dns" {
  source = "../dns"
}

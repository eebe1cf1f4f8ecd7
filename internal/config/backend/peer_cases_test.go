package backend_test

// peerCase is a block, and its options. $URL and $HOST are the services on loopback, $DIR is the
// directory.
type peerCase struct {
	block     string
	given     string // of -backend-config, each behind a bar; x.hcl is the file below
	file      string
	workspace string
	only      string // the only program that accepts the block; "" means both
}

const kubeconfig = `{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "c", "cluster": {"server": "$URL"}}], "users": [{"name": "u", "user": {}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}`

var peerCases = map[string]peerCase{
	"local/empty": {block: `backend "local" {}`},
	"local/full": {block: `backend "local" {
  path          = "a/<&>é\"\u0001.tfstate"
  workspace_dir = "w"
}`},
	"local/pair":                    {block: `backend "local" {}`, given: "|path=p"},
	"local/pair over value":         {block: `backend "local" { path = "a" }`, given: "|path=p|path=q"},
	"local/file":                    {block: `backend "local" { path = "a" }`, given: "|workspace_dir=v|x.hcl", file: `workspace_dir = "w"`},
	"local/cleared":                 {block: `backend "local" { path = "a" }`, given: "|"},
	"local/null over value":         {block: `backend "local" { path = "a" }`, given: "|x.hcl", file: `path = null`},
	"local/wrong type in the block": {block: `backend "local" { path = [] }`, given: "|path=p"},
	"local/computed": {block: `backend "local" { path = "${var.name}/${local.x}" }
}
variable "name" { default = "a" }
locals {
  x = upper(var.name)`, only: "tofu"},
	"http/headers": {block: `backend "http" {
  address = "$URL/state"
  headers = { b = "c" }
}`, only: "tofu"},
	"inmem/full":    {block: `backend "inmem" { lock_id = "x" }`},
	"inmem/partial": {block: `backend "inmem" {}`, given: "|lock_id=x"},
	"http/full": {block: `backend "http" {
  address                = "$URL/state"
  lock_address           = "$URL/state"
  unlock_address         = "$URL/state"
  lock_method            = "POST"
  unlock_method          = "DELETE"
  update_method          = "PUT"
  username               = "u"
  password               = "p"
  retry_max              = 3
  retry_wait_min         = "1"
  retry_wait_max         = 2
  skip_cert_verification = true
}`},
	"http/partial": {block: `backend "http" { username = "u" }`,
		given: "|address=$URL/state|password=s=ec ret |retry_max=4|skip_cert_verification=true"},
	"consul/full": {block: `backend "consul" {
  path         = "p"
  address      = "$HOST"
  scheme       = "http"
  access_token = "t"
  datacenter   = "d"
  http_auth    = "a:b"
  gzip         = true
  lock         = false
}`},
	"consul/partial": {block: `backend "consul" { path = "p" }`, given: "|x.hcl",
		file: "address = \"$HOST\"\nscheme = \"http\"\naccess_token = \"t\"\n"},
	"s3/full": {block: `backend "s3" {
  bucket                      = "b"
  key                         = "k"
  region                      = "us-east-1"
  access_key                  = "a"
  secret_key                  = "s"
  token                       = "t"
  acl                         = "private"
  encrypt                     = true
  use_lockfile                = true
  use_path_style              = true
  workspace_key_prefix        = "w"
  endpoints                   = { s3 = "$URL", sts = "$URL" }
  max_retries                 = 1
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
  shared_config_files         = ["$DIR/b", "$DIR/a"]
}`},
	"s3/partial": {block: `backend "s3" {
  key                         = "k"
  use_path_style              = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
}`, given: `|bucket=b|region=us-east-1|access_key=a|secret_key=s|endpoints={s3="$URL"}|shared_config_files=["$DIR/a"]`},
	"s3/role": {block: `backend "s3" {
  bucket                      = "b"
  key                         = "k"
  region                      = "us-east-1"
  access_key                  = "a"
  secret_key                  = "s"
  use_path_style              = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  endpoints                   = { s3 = "$URL", sts = "$URL/sts" }
  assume_role = {
    role_arn            = "arn:aws:iam::123456789012:role/r"
    duration            = "1h"
    tags                = { b = "1", a = "2" }
    transitive_tag_keys = ["b", "a"]
    policy_arns         = ["arn:aws:iam::123456789012:policy/r"]
  }
}`},
	"s3/web identity": {block: `backend "s3" {
  bucket                      = "b"
  key                         = "k"
  region                      = "us-east-1"
  use_path_style              = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  endpoints                   = { s3 = "$URL", sts = "$URL/sts" }
  assume_role_with_web_identity = {
    role_arn           = "arn:aws:iam::123456789012:role/r"
    session_name       = "session"
    web_identity_token = "token"
  }
}`},
	"kubernetes/full": {block: `backend "kubernetes" {
  secret_suffix    = "s"
  config_path      = "$DIR/x.hcl"
  host             = "$URL"
  namespace        = "n"
  insecure         = false
  labels           = { b = "1", a = 2 }
  token            = "t"
}`, file: kubeconfig},
	"kubernetes/partial": {block: `backend "kubernetes" {}`, file: kubeconfig,
		given: `|secret_suffix=s|labels={a="1"}|config_paths=["$DIR/x.hcl"]|token=t`},
	"gcs/full": {block: `backend "gcs" {
  bucket                  = "b"
  prefix                  = "p"
  access_token            = "t"
  encryption_key          = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="
  storage_custom_endpoint = "$URL/storage/v1/b"
}`},
	"gcs/partial": {block: `backend "gcs" { prefix = "p" }`,
		given: `|bucket=b|access_token=t|storage_custom_endpoint=$URL/storage/v1/b|impersonate_service_account_delegates=["b", "a"]`},
	"cos/full": {block: `backend "cos" {
  bucket     = "b-1250000000"
  region     = "ap-guangzhou"
  secret_id  = "a"
  secret_key = "s"
  prefix     = "p"
  key        = "k"
  encrypt    = false
  acl        = "private"
  accelerate = false
}`},
	"cos/partial": {block: `backend "cos" { encrypt = true }`, file: "secret_id = \"a\"\nsecret_key = \"s\"\n",
		given: "|x.hcl|bucket=b-1250000000|region=ap-guangzhou|accelerate=false"},
	"cos/role": {block: `backend "cos" {
  bucket     = "b-1250000000"
  region     = "ap-guangzhou"
  secret_id  = "a"
  secret_key = "s"
  assume_role {
    role_arn         = "qcs::cam::uin/1:roleName/r"
    session_name     = "s"
    session_duration = 3600
  }
}`},
	"oss/full": {block: `backend "oss" {
  bucket     = "bbb"
  region     = "cn-beijing"
  access_key = "a"
  secret_key = "s"
  endpoint   = "$URL"
  prefix     = "p"
  key        = "k"
  acl        = "private"
  encrypt    = true
}`},
	"oss/partial": {block: `backend "oss" { encrypt = true }`, file: "access_key = \"a\"\nsecret_key = \"s\"\n",
		given: "|bucket=bbb|region=cn-beijing|endpoint=$URL|x.hcl"},
	"oss/role": {block: `backend "oss" {
  bucket       = "bbb"
  region       = "cn-beijing"
  access_key   = "a"
  secret_key   = "s"
  endpoint     = "$URL"
  sts_endpoint = "sts.aliyuncs.com"
  assume_role {
    role_arn           = "acs:ram::1:role/r"
    session_name       = "s"
    session_expiration = 3600
  }
}`},
	"azurerm/full": {block: `backend "azurerm" {
  storage_account_name = "abc"
  container_name       = "ccc"
  key                  = "k"
  access_key           = "QUJDREVG"
  environment          = "public"
  use_azuread_auth     = false
  use_cli              = false
  use_msi              = false
  use_oidc             = false
  snapshot             = true
}`},
	"azurerm/partial": {block: `backend "azurerm" { snapshot = true }`, file: "access_key = \"QUJDREVG\"\n",
		given: "|storage_account_name=abc|container_name=ccc|x.hcl|key=k|use_cli=false"},
	"remote/full": {block: `backend "remote" {
  hostname     = "tfe.example.com"
  organization = "o"
  token        = "t"
  workspaces {
    name = "w"
  }
}`},
	"remote/partial": {block: `backend "remote" {
  workspaces {
    name = "other"
  }
}`, given: "|x.hcl", file: `hostname = "tfe.example.com"
organization = "o"
token = "t"
workspaces { prefix = "w-" }
`, workspace: "x"},
	"cloud/name": {block: `cloud {
  hostname     = "tfe.example.com"
  organization = "o"
  token        = "t"
  workspaces {
    name = "w"
  }
}`},
	"cloud/tags": {block: `cloud {
  hostname     = "tfe.example.com"
  organization = "o"
  token        = "t"
  workspaces {
    tags    = ["b", "a"]
    project = "p"
  }
}`, workspace: "w"},
	"cloud/tag map": {block: `cloud {
  hostname     = "tfe.example.com"
  organization = "o"
  token        = "t"
  workspaces {
    tags = { b = "a" }
  }
}`, workspace: "w", only: "terraform"},
}

package backend

import (
	"crypto/x509"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// rule is what an argument of a type has to be, as far as that shows without asking the
// backend.
type rule struct {
	argument  string
	variables string              // environment that counts where the argument isn't set
	required  bool                // it has to be set, by either, and not to ""
	wrong     func(string) string // says what is wrong with a value; nil, "": nothing
	summary   string              // of the problem
}

// pair is what two arguments have to do with each other.
type pair struct {
	first, second string
	variables     [2]string // environment that counts in their places
	apart         bool      // only one of them can be set; else the first is of use with the second only
	summary       string
}

// rules are those of each type.
var rules = map[string][]rule{
	Local: {
		{argument: "path", wrong: empty, summary: "Invalid local state file path"},
		{argument: "workspace_dir", wrong: empty, summary: "Invalid local workspace directory path"},
	},
	"http": {
		{argument: "address", variables: "TF_HTTP_ADDRESS", required: true, summary: "address argument is required"},
		{argument: "address", variables: "TF_HTTP_ADDRESS", wrong: noWebAddress, summary: "address must be HTTP or HTTPS"},
		{argument: "lock_address", variables: "TF_HTTP_LOCK_ADDRESS", wrong: noWebAddress, summary: "lock_address must be HTTP or HTTPS"},
		{argument: "unlock_address", variables: "TF_HTTP_UNLOCK_ADDRESS", wrong: noWebAddress, summary: "unlock_address must be HTTP or HTTPS"},
		{argument: "client_ca_certificate_pem", variables: "TF_HTTP_CLIENT_CA_CERTIFICATE_PEM", wrong: noCertificates, summary: "failed to append certs"},
	},
	"s3": {
		{argument: "bucket", wrong: blank, summary: invalidValue},
		{argument: "key", wrong: blank, summary: invalidValue},
		{argument: "key", wrong: slashAtEnds, summary: invalidValue},
		{argument: "key", wrong: slashes, summary: invalidValue},
		{argument: "region", variables: "AWS_REGION AWS_DEFAULT_REGION", required: true, summary: "Missing region value"},
		{argument: "workspace_key_prefix", wrong: slashAtEnds, summary: invalidValue},
		{argument: "kms_key_id", wrong: noKeyOfKMS, summary: "Invalid KMS Key ID"},
		{argument: "sse_customer_key", wrong: noCustomerKey, summary: "Invalid sse_customer_key value"},
		{argument: "retry_mode", wrong: notOneOf("standard", "adaptive"), summary: invalidValue},
	},
	"cos": {
		{argument: "prefix", wrong: startsWith("/", "./"), summary: "prefix must not start with '/' or './'"},
		{argument: "key", wrong: slashAtEnds, summary: "key can not start and end with '/'"},
		{argument: "acl", wrong: notOneOf("private", "public-read"), summary: "acl value invalid"},
	},
	"remote": {
		{argument: "organization", wrong: empty, summary: "Invalid organization value"},
	},
}

const invalidValue = "Invalid Value"

// pairs are those of each type.
var pairs = map[string][]pair{
	"http": {
		{first: "client_certificate_pem", second: "client_private_key_pem",
			variables: [2]string{"TF_HTTP_CLIENT_CERTIFICATE_PEM", "TF_HTTP_CLIENT_PRIVATE_KEY_PEM"},
			summary:   "client_certificate_pem is set but client_private_key_pem is not"},
		{first: "client_private_key_pem", second: "client_certificate_pem",
			variables: [2]string{"TF_HTTP_CLIENT_PRIVATE_KEY_PEM", "TF_HTTP_CLIENT_CERTIFICATE_PEM"},
			summary:   "client_private_key_pem is set but client_certificate_pem is not"},
	},
	"s3": {
		{first: "kms_key_id", second: "sse_customer_key", apart: true, summary: "Invalid Attribute Combination"},
		{first: "shared_credentials_file", second: "shared_credentials_files", apart: true, summary: "Invalid Attribute Combination"},
		{first: "force_path_style", second: "use_path_style", apart: true, summary: "Invalid Attribute Combination"},
		{first: "allowed_account_ids", second: "forbidden_account_ids", apart: true, summary: "Invalid Attribute Combination"},
	},
	"gcs": {
		{first: "encryption_key", second: "kms_encryption_key", apart: true, summary: "can't set both encryption_key and kms_encryption_key"},
	},
}

// checkRules finds what can't be right in the values of a block. Messages don't have the
// values: they may be secret.
func checkRules(block Block, value cty.Value, getenv func(string) string) (diags hcl.Diagnostics) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	report := func(summary, detail string) { diags = append(diags, failure(block.Range, summary, detail)) }
	for _, r := range rules[block.Type] {
		given, isSet := given(value, r.argument, r.variables, getenv)
		switch {
		case r.required && given == "":
			detail := "The backend " + block.Type + " needs a value for \"" + r.argument + "\". Give it in the block, or with -backend-config"
			for variable := range strings.FieldsSeq(r.variables) {
				detail += ", or set the variable " + variable
			}
			report(r.summary, detail+".")
		case r.wrong != nil && isSet:
			if reason := r.wrong(given); reason != "" {
				report(r.summary, "The value of \""+r.argument+"\" "+reason+".")
			}
		}
	}
	for _, p := range pairs[block.Type] {
		first, firstSet := given(value, p.first, p.variables[0], getenv)
		second, secondSet := given(value, p.second, p.variables[1], getenv)
		switch {
		case p.apart && firstSet && secondSet:
			report(p.summary, "Only one of \""+p.first+"\" and \""+p.second+"\" can be set.")
		case !p.apart && first != "" && second == "":
			report(p.summary, "The argument \""+p.first+"\" needs \""+p.second+"\" beside it.")
		}
	}
	if block.Type == "remote" || block.Type == Cloud {
		if reason := wrongWorkspaces(block.Type, value.GetAttr("workspaces")); reason != "" {
			report("Invalid workspaces configuration", reason)
		}
	}
	return diags
}

// given returns the value of an argument, if it is a string, or where it isn't set that of the
// first variable that is. An argument that the product's version doesn't have isn't set.
func given(value cty.Value, argument, variables string, getenv func(string) string) (text string, isSet bool) {
	if value.Type().HasAttribute(argument) && !value.GetAttr(argument).IsNull() {
		return textOf(value, argument), true
	}
	for variable := range strings.FieldsSeq(variables) {
		if text := getenv(variable); text != "" {
			return text, true
		}
	}
	return "", false
}

// wrongWorkspaces says what is wrong with the block of the types remote and cloud. That of
// a cloud block may be left to the environment.
func wrongWorkspaces(typ string, block cty.Value) string {
	name, prefix := textOf(block, "name"), textOf(block, "prefix")
	switch {
	case typ == Cloud && !block.IsNull() && !block.GetAttr("name").IsNull() && !block.GetAttr("tags").IsNull():
		return "A block \"workspaces\" has only one of \"name\" and \"tags\"."
	case typ == Cloud:
	case name == "" && prefix == "":
		return "A block \"workspaces\" has to say which workspaces there are, by \"name\" or \"prefix\"."
	case name != "" && prefix != "":
		return "A block \"workspaces\" has only one of \"name\" and \"prefix\"."
	}
	return ""
}

func empty(text string) string {
	if text == "" {
		return "can't be empty"
	}
	return ""
}

func blank(text string) string { return empty(strings.TrimSpace(text)) }

func noWebAddress(text string) string {
	if address, err := url.Parse(text); err != nil || address.Scheme != "http" && address.Scheme != "https" {
		return "has to be a URL that begins with https:// or http://"
	}
	return ""
}

func slashAtEnds(text string) string {
	if strings.HasPrefix(text, "/") || strings.HasSuffix(text, "/") {
		return "can't begin or end with a slash"
	}
	return ""
}

func slashes(text string) string {
	if strings.Contains(text, "//") {
		return "can't have two slashes in a row"
	}
	return ""
}

func startsWith(beginnings ...string) func(string) string {
	return func(text string) string {
		if slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(text, b) }) {
			return "can't begin with " + strings.Join(beginnings, " or ")
		}
		return ""
	}
}

func notOneOf(words ...string) func(string) string {
	return func(text string) string {
		if !slices.Contains(words, text) {
			return "has to be one of " + strings.Join(words, ", ")
		}
		return ""
	}
}

func noCertificates(text string) string {
	if text != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		return "has to be certificates in the PEM format"
	}
	return ""
}

// noKeyOfKMS says that no part of a text looks like the name of a key. Names with a
// prefix "arn:" have their parts behind it.
func noKeyOfKMS(text string) string {
	const id = `[a-f0-9]{8}-[a-f0-9]{4}-[1-5][a-f0-9]{3}-[ab89][a-f0-9]{3}-[a-f0-9]{12}`
	pattern := `^` + id + `|mrk-[a-f0-9]{32}|alias/[a-zA-Z0-9/_-]+$`
	if strings.HasPrefix(text, "arn:") {
		pattern = `^arn:[^:]*:[^:]*:[^:]*:[^:]*:(key/(` + id + `|mrk-[a-f0-9]{32})|alias/[a-zA-Z0-9/_-]+)$`
	}
	if !regexp.MustCompile(pattern).MatchString(text) {
		return "has to be the ID, the alias or the ARN of a key"
	}
	return ""
}

func noCustomerKey(text string) string {
	if _, err := base64.StdEncoding.DecodeString(text); len(text) != 44 || err != nil {
		return "has to be 32 bytes in base64, which are 44 characters"
	}
	return ""
}

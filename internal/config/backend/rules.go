package backend

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/par"
)

// rule is what an argument of a type has to be, as far as that shows without asking the
// backend.
type rule struct {
	argument  string              // "role.arn" is an argument of an object; each element of a set counts
	variables string              // environment that counts where the argument isn't set
	required  bool                // it has to be set, by either, and not to ""
	wrong     func(string) string // says what is wrong with a value; nil, "": nothing
	summary   string              // of the problem; "": what is wrong
	role      bool                // a product that understands "any_role" takes such values
}

// pair is what two arguments have to do with each other.
type pair struct {
	first, second string
	variables     [2]string // environment that counts in their places
	apart         bool      // only one of them can be set; else the first is of use with the second only
	summary       string
}

// rules are those of each type.
var rules = par.OnceValue(func() map[string][]rule {
	return map[string][]rule{
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
			{argument: "assume_role.role_arn", wrong: blank, summary: invalidValue, role: true},
			{argument: "assume_role.role_arn", wrong: noARN, summary: "Invalid ARN", role: true},
			{argument: "assume_role.role_arn", wrong: noARNOf("role/", "IAM Role"), summary: "Invalid IAM Role ARN", role: true},
			{argument: "assume_role.policy_arns", wrong: noARN, summary: "Invalid ARN"},
			{argument: "assume_role.policy_arns", wrong: noARNOf("policy/", "IAM Policy"), summary: "Invalid IAM Policy ARN"},
			{argument: "assume_role_with_web_identity.role_arn", wrong: blank, summary: invalidValue, role: true},
			{argument: "assume_role_with_web_identity.role_arn", wrong: noARN, summary: "Invalid ARN", role: true},
			{argument: "assume_role_with_web_identity.role_arn", wrong: noARNOf("role/", "IAM Role"), summary: "Invalid IAM Role ARN", role: true},
			{argument: "assume_role_with_web_identity.policy_arns", wrong: noARN, summary: "Invalid ARN"},
			{argument: "assume_role_with_web_identity.policy_arns", wrong: noARNOf("policy/", "IAM Policy"), summary: "Invalid IAM Policy ARN"},
		},
		"pg": {
			{argument: "conn_str", variables: "PG_CONN_STR", wrong: noSettings},
			{argument: "conn_str", variables: "PG_CONN_STR", wrong: noDatabaseURL},
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
})

const invalidValue = "Invalid Value"

// pairs are those of each type.
var pairs = par.OnceValue(func() map[string][]pair {
	return map[string][]pair{
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
})

// checkRules finds what can't be right in the values of a block. Messages don't have the
// values: they may be secret.
func checkRules(block Block, value cty.Value, opts Options) (diags hcl.Diagnostics) {
	getenv := opts.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	report := func(summary, format string, args ...any) {
		diags = append(diags, diagnostic.Error(block.Range, summary, format, args...))
	}
	for _, r := range rules()[block.Type] {
		if r.role && dialect.Of(opts.Product).Understands("any_role") {
			continue
		}
		texts := given(value, r.argument, r.variables, getenv)
		switch {
		case r.required && (len(texts) == 0 || texts[0] == ""):
			detail := "The backend " + block.Type + " needs a value for \"" + r.argument + "\". Give it in the block, or with -backend-config"
			for variable := range strings.FieldsSeq(r.variables) {
				detail += ", or set the variable " + variable
			}
			report(r.summary, "%s.", detail)
		case r.wrong != nil:
			for _, text := range texts {
				reason := r.wrong(text)
				if reason == "" {
					continue
				}
				if r.summary == "" {
					report(reason, "The value of %q can't be parsed.", r.argument)
				} else {
					report(r.summary, "The value of %q %s.", r.argument, reason)
				}
				break
			}
		}
	}
	for _, p := range pairs()[block.Type] {
		first, second := given(value, p.first, p.variables[0], getenv), given(value, p.second, p.variables[1], getenv)
		switch {
		case p.apart && len(first) > 0 && len(second) > 0:
			report(p.summary, "Only one of %q and %q can be set.", p.first, p.second)
		case !p.apart && strings.Join(first, "") != "" && strings.Join(second, "") == "":
			report(p.summary, "The argument %q needs %q beside it.", p.first, p.second)
		}
	}
	if block.Type == "remote" || block.Type == Cloud {
		if reason := wrongWorkspaces(block.Type, value.GetAttr("workspaces")); reason != "" {
			report("Invalid workspaces configuration", "%s", reason)
		}
	}
	return diags
}

// given returns the value of an argument, those of a set, or where it isn't set that of the
// first variable that is; none: nothing is set. What is no string counts as "". An argument that the product's
// version doesn't have isn't set.
func given(value cty.Value, argument, variables string, getenv func(string) string) []string {
	for name := range strings.SplitSeq(argument, ".") {
		if value.IsNull() || !value.Type().HasAttribute(name) {
			value = cty.NullVal(cty.String)
			break
		}
		value = value.GetAttr(name)
	}
	switch {
	case !value.IsNull() && value.Type() == cty.Set(cty.String):
		var texts []string
		for _, element := range value.Elements() {
			texts = append(texts, element.AsString())
		}
		return texts
	case !value.IsNull() && value.Type() == cty.String:
		return []string{value.AsString()}
	case !value.IsNull():
		return []string{""}
	}
	for variable := range strings.FieldsSeq(variables) {
		if text := getenv(variable); text != "" {
			return []string{text}
		}
	}
	return nil
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

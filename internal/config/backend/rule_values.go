package backend

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

func empty(text string) string {
	if text == "" {
		return "can't be empty"
	}
	return ""
}

func noHost(text string) string {
	if _, err := hosts.ParseHostname(text); err != nil && text != "" {
		return "is not the name of a host"
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

// checks return what is wrong with a value, or "". Checks by pattern are lines of rules.txt.
var checks = sync.OnceValue(func() map[string]func(string) string {
	all := map[string]func(string) string{
		"empty": empty, "blank": blank, "web": noWebAddress, "certificates": noCertificates, "kms": noKeyOfKMS,
		"key": noCustomerKey, "arn": noARN, "settings": noSettings, "database": noDatabaseURL, "host": noHost,
		"base64": noBase64, "url": noURL, "completeurl": noCompleteURL, "file": noFile, "pem": noFileOfCertificates, "bundle": noBundle,
		"json":     func(text string) string { return inContents(text, noJSON) },
		"google":   func(text string) string { return inContents(text, noGoogleCredentials) },
		"contents": func(text string) string { return inContents(text, noBase64) },
	}
	for line := range strings.Lines(rulesText) {
		if f := strings.Fields(line); len(f) > 4 && f[0] == "form" {
			all[f[1]] = form(f[3], f[2] == "is", strings.Join(f[4:], " "))
		}
	}
	return all
})

// pairChecks return what is wrong with two values.
var pairChecks = sync.OnceValue(func() map[string]func(a, b string) string {
	return map[string]func(a, b string) string{"keys": noKeyPair, "keyfiles": noKeyFiles, "same": notTheSame}
})

// wrong applies a check, which may have a list of words after a colon.
func wrong(check, text string) string {
	name, list, hasWords := strings.Cut(check, ":")
	words := strings.Split(list, ",")
	switch {
	case name == "oneof" && !slices.Contains(words, text), name == "anycase" && !slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, text) }):
		return "has to be one of " + strings.TrimPrefix(strings.Join(words, ", "), ", ")
	case name == "arn" && hasWords:
		parts := strings.SplitN(text, ":", 6)
		if noARN(text) != "" || len(parts) < 6 || strings.HasPrefix(parts[5], strings.ToLower(list)+"/") {
			return "" // another rule reports an invalid ARN
		}
		return "must be a valid IAM " + list + " ARN"
	case !hasWords:
		return checks()[name](text)
	}
	return ""
}

// form returns a check that refuses texts by a pattern: those that match, or with isRight those
// that don't.
func form(pattern string, isRight bool, reason string) func(string) string {
	return func(text string) string {
		if text != "" && regexp.MustCompile(pattern).MatchString(text) != isRight {
			return reason
		}
		return ""
	}
}

func noBase64(text string) string {
	if _, err := base64.StdEncoding.DecodeString(text); err != nil {
		return "has to be in base64"
	}
	return ""
}

func noJSON(text string) string {
	if !json.Valid([]byte(text)) {
		return "has to be JSON, or the name of a file with JSON"
	}
	return ""
}

// googleFields are the fields that all versions of Terraform and OpenTofu require in Google credentials, by type: strings, of which
// those with a question mark may be missing.
var googleFields = map[string][]string{
	"service_account":                  {"?client_email", "?client_id", "?private_key", "?private_key_id", "?project_id", "?universe_domain"},
	"authorized_user":                  {"?client_id", "?client_secret", "?refresh_token", "?universe_domain"},
	"gdch_service_account":             nil,
	"external_account":                 {"audience", "subject_token_type"},
	"external_account_authorized_user": {"refresh_token", "token_url", "client_id", "client_secret"},
	"impersonated_service_account":     {"source_credentials", "service_account_impersonation_url"},
}

// noGoogleCredentials ignores text that isn't JSON, which noJSON reports.
func noGoogleCredentials(text string) string {
	if noJSON(text) != "" {
		return ""
	}
	given, fields := map[string]any{}, map[string]any{}
	_ = json.Unmarshal([]byte(text), &given) // other JSON than an object has no type
	for name, value := range given {         // Terraform and OpenTofu ignore the case of names
		fields[strings.ToLower(name)] = value
	}
	typ, _ := fields["type"].(string)
	needed, isKnown := googleFields[typ]
	if !isKnown {
		return "has to be credentials of Google, of a \"type\" that is known"
	}
	for _, name := range needed {
		name, mayLack := strings.CutPrefix(name, "?")
		value := fields[name]
		if _, isText := value.(string); value != nil && !isText && name != "source_credentials" {
			return fmt.Sprintf("has a %q that isn't a string", name)
		}
		if !mayLack && (value == nil || value == "") {
			return fmt.Sprintf("lacks %q", name)
		}
	}
	return ""
}

func noURL(text string) string {
	if _, err := url.Parse(text); err != nil {
		return "can't be parsed as a URL"
	}
	return ""
}

func noCompleteURL(text string) string {
	if address, err := url.Parse(text); err != nil || address.Scheme == "" || address.Host == "" {
		return "has to be a URL with a scheme and a host"
	}
	return ""
}

// largest is how much of a file that a value names is read.
const largest = 1 << 20

// contents reads a file that a value names. It returns "" for a pipe, which only the user of the value may read.
func contents(path string) (text string, reason string) {
	if info, err := os.Stat(path); path == "" || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return "", ""
	} else if err == nil && info.IsDir() {
		return "", "names a directory"
	}
	data, err := wholefile.Read(path, largest)
	if err != nil && !errors.Is(err, wholefile.ErrTooLarge) {
		return "", "names a file that can't be read"
	}
	return string(data), ""
}

func noFile(text string) string {
	_, reason := contents(text)
	return reason
}

// inContents checks a value, or the content of the file that it names.
func inContents(text string, check func(string) string) string {
	if strings.HasPrefix(text, "~") {
		return "" // a home directory
	}
	if _, err := os.Stat(text); err != nil {
		return check(text)
	}
	inside, reason := contents(text)
	if reason == "" && inside != "" {
		reason = check(inside)
	}
	return reason
}

func noFileOfCertificates(text string) string {
	inside, reason := contents(text)
	return cmp.Or(reason, noCertificates(inside))
}

// noBundle skips paths in which the backend expands variables and home directories.
func noBundle(text string) string {
	if strings.ContainsAny(text, "~$") {
		return ""
	}
	return noFileOfCertificates(text)
}

func noKeyPair(certificate, key string) string {
	if _, err := tls.X509KeyPair([]byte(certificate), []byte(key)); err != nil {
		return "isn't the certificate of the key beside it, in the PEM format"
	}
	return ""
}

func noKeyFiles(certificate, key string) string {
	first, reason := contents(certificate)
	second, more := contents(key)
	if reason = cmp.Or(reason, more); reason == "" && first != "" && second != "" {
		return noKeyPair(first, second)
	}
	return reason
}

// notTheSame compares a value with the content of a file.
func notTheSame(text, path string) string {
	if inside, reason := contents(path); reason == "" && strings.TrimSpace(inside) != strings.TrimSpace(text) {
		return "differs from the file"
	}
	return ""
}

func noCertificates(text string) string {
	if text != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		return "has to be certificates in the PEM format"
	}
	return ""
}

// noKeyOfKMS reports text that isn't the ID, alias or ARN of a key.
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

func noARN(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
	case !strings.HasPrefix(text, "arn:"):
		return "cannot be parsed as an ARN: arn: invalid prefix"
	case strings.Count(text, ":") < 5:
		return "cannot be parsed as an ARN: arn: not enough sections"
	}
	return ""
}

func isDatabaseURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

func noDatabaseURL(text string) string {
	if _, err := url.Parse(text); err != nil && isDatabaseURL(text) {
		return "invalid connection URL"
	}
	return ""
}

// noSettings checks the syntax "name=value name='value'" as libpq does. A backslash escapes the
// next character.
func noSettings(text string) string {
	if isDatabaseURL(text) {
		return ""
	}
	for text = skipSpaces(text); text != ""; text = skipSpaces(text) {
		name, value, found := strings.Cut(text, "=")
		if !found || strings.ContainsFunc(strings.TrimRightFunc(name, unicode.IsSpace), unicode.IsSpace) {
			return "missing \"=\" in connection info string"
		}
		rest, quoted := strings.CutPrefix(skipSpaces(value), "'")
		isEscaped := false
		end := strings.IndexFunc(rest, func(r rune) bool {
			if isEscaped || r == '\\' {
				isEscaped = !isEscaped
				return false
			}
			return quoted && r == '\'' || !quoted && unicode.IsSpace(r)
		})
		switch {
		case end >= 0:
			text = rest[end:]
			if quoted {
				text = text[1:]
			}
		case quoted:
			return "unterminated quoted string literal in connection string"
		case isEscaped:
			return "missing character after backslash"
		default:
			return ""
		}
	}
	return ""
}

func skipSpaces(text string) string { return strings.TrimLeftFunc(text, unicode.IsSpace) }

package backend

import (
	"crypto/x509"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
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

// checks say what is wrong with a value; "": nothing.
var checks = par.OnceValue(func() map[string]func(string) string {
	return map[string]func(string) string{
		"empty": empty, "blank": blank, "web": noWebAddress, "certificates": noCertificates, "ends": slashAtEnds, "slashes": slashes, "kms": noKeyOfKMS,
		"key": noCustomerKey, "arn": noARN, "settings": noSettings, "database": noDatabaseURL, "host": noHost,
	}
})

// wrong applies a check, which may have words to compare with behind a colon.
func wrong(check, text string) string {
	name, list, hasWords := strings.Cut(check, ":")
	words := strings.Split(list, ",")
	switch {
	case name == "begins" && slices.ContainsFunc(words, func(b string) bool { return strings.HasPrefix(text, b) }):
		return "can't begin with " + strings.Join(words, " or ")
	case name == "oneof" && !slices.Contains(words, text):
		return "has to be one of " + strings.TrimPrefix(strings.Join(words, ", "), ", ")
	case name == "arn" && hasWords:
		parts := strings.SplitN(text, ":", 6)
		if noARN(text) != "" || len(parts) < 6 || strings.HasPrefix(parts[5], strings.ToLower(list)+"/") {
			return "" // what is no ARN at all is said by another line
		}
		return "must be a valid IAM " + list + " ARN"
	case hasWords:
		return ""
	}
	return checks()[name](text)
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

// noSettings reads "name=value name='value'" as libpq does, where a backslash takes the
// next character as it is.
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

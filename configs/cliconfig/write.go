package cliconfig

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// WriteWith returns one file that says what all files of this configuration say together, but for
// the services of some hosts: for each service a URL, or the object that a host's discovery
// document has for it. What TF_CLI_CONFIG_FILE names replaces all files, so a program that is to
// find other services than its user needs such a file.
//
// The files are read again. Of what several files have, the file has what counts; what this module
// doesn't know is taken over. The file has the user's tokens. Errors are of reading, or that a file
// isn't one any more.
func (c *Config) WriteWith(services map[hosts.Hostname]map[string]any) ([]byte, error) {
	w := &writer{}
	all := map[hosts.Hostname]map[string]any{}
	for host, urls := range c.Hosts {
		all[host] = map[string]any{}
		for id, u := range urls {
			all[host][id] = u
		}
	}
	maps.Copy(all, services)
	for _, host := range slices.Sorted(maps.Keys(all)) {
		w.line("host %s {", quote(host.String()))
		w.line("  services = %s", literal(all[host], "  "))
		w.line("}")
	}
	if c.PluginCacheDir != "" {
		w.line("plugin_cache_dir = %s", quote(c.PluginCacheDir))
	}
	written := map[string]bool{}
	for _, s := range c.Settings {
		if s.Name == "credentials" && !written[s.Label] {
			written[s.Label] = true
			if err := w.credentials(c.Tokens, s.Label); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range c.Files {
		if err := w.others(path); err != nil {
			return nil, err
		}
	}
	return w.text.Bytes(), nil
}

type writer struct{ text bytes.Buffer }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// credentials writes the block of a host.
func (w *writer) credentials(tokens *hosts.StaticTokens, label string) error {
	host, err := hosts.ParseHostname(label)
	if err != nil {
		return err
	}
	token, err := tokens.Token(context.Background(), host)
	if err != nil {
		return err
	}
	w.line("credentials %s {", quote(label))
	if token != "" {
		w.line("  token = %s", quote(token))
	}
	w.line("}")
	return nil
}

// others writes what a file says beside what is written already.
func (w *writer) others(path string) error {
	src, err := wholefile.ReadAny(path, maxBytes)
	if err != nil {
		return err
	}
	top, wrong := decode(src)
	if wrong != nil {
		return fmt.Errorf("%s:%d: %s", path, wrong.line, wrong.text)
	}
	for _, f := range top.object {
		if !f.is("host") && !f.is("credentials") && !f.is("plugin_cache_dir") {
			if f.is("oci_default_credentials") {
				if f.value, err = absoluteFiles(f.value, filepath.Dir(path)); err != nil {
					return err
				}
			}
			w.field(f, "")
		}
	}
	return nil
}

// absoluteFiles is the content of oci_default_credentials for a file in another directory than dir,
// where it is read from. The error is that the working directory isn't known.
func absoluteFiles(v value, dir string) (value, error) {
	var err error
	blocks := func(of value) value {
		of.object = slices.Clone(of.object)
		for i, f := range of.object {
			if f.name != "docker_style_config_files" {
				continue
			}
			list := slices.Clone(f.value.list)
			for j, element := range list {
				if element.kind == isString && !filepath.IsAbs(element.text) && err == nil {
					list[j].text, err = filepath.Abs(filepath.Join(dir, element.text))
				}
			}
			of.object[i].value.list = list
		}
		return of
	}
	v = blocks(v)
	v.list = slices.Clone(v.list)
	for i := range v.list {
		v.list[i] = blocks(v.list[i])
	}
	return v, err
}

// field writes a statement, and in JSON's place of several blocks each of them.
func (w *writer) field(f field, indent string) {
	if blocks, ok := f.value.blocks(); ok && !f.equals && (f.value.kind == isObject || len(blocks) > 0) {
		if f.is("credentials_helper") {
			f.labels = 1 // which JSON doesn't have
		}
		for _, block := range blocks {
			w.block(f, block, indent)
		}
		return
	}
	w.line("%s%s = %s", indent, name(f.name), literal(plain(f.value), indent))
}

func (w *writer) block(f field, content value, indent string) {
	head := indent + name(f.name)
	for range f.labels {
		if content.kind == isObject && len(content.object) == 1 {
			head += " " + quote(content.object[0].name)
			content = content.object[0].value
		}
	}
	w.line("%s {", head)
	for _, inner := range content.object {
		w.field(inner, indent+"  ")
	}
	w.line("%s}", indent)
}

// number is how a number was written.
type number string

// plain is a value as [literal] takes it.
func plain(v value) any {
	switch v.kind {
	case isString:
		return v.text
	case isNumber, isBool:
		return number(v.text)
	case isList:
		list := []any{}
		for _, element := range v.list {
			list = append(list, plain(element))
		}
		return list
	case isObject:
		object := map[string]any{}
		for _, f := range v.object {
			object[f.name] = plain(f.value)
		}
		return object
	default:
		return ""
	}
}

// literal writes a value: what [plain] returns, or what encoding/json decodes to.
func literal(v any, indent string) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case []any:
		var parts []string
		for _, element := range v {
			parts = append(parts, literal(element, indent))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		text := "{\n"
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text += indent + "  " + quote(key) + " = " + literal(v[key], indent+"  ") + "\n"
		}
		return text + indent + "}"
	case nil:
		return `""`
	default: // number, bool, float64
		return fmt.Sprint(v)
	}
}

// name is a key. Those that are words stay bare: some blocks have to.
func name(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return text
	}
	return quote(text)
}

// quote writes a string of HCL 1. Nothing in it ends it, or begins a "${}", in which a quotation
// mark wouldn't end it: services are what hosts say.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		switch {
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '$' && strings.HasPrefix(text[i+1:], "{"), unicode.IsControl(r), r == '\ufeff', r == '\ue123': // the scanner refuses the last two
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package cliconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

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
//
// It is in JSON, in the form that Terraform reads: every block is a list.
func (c *Config) WriteWith(services map[hosts.Hostname]map[string]any) ([]byte, error) {
	var whole value
	add := func(name string, content value) {
		whole.object = append(whole.object, field{name: name, value: content})
	}
	all := map[hosts.Hostname]any{}
	for host, urls := range c.Hosts {
		all[host] = urls
	}
	for host, offered := range services {
		all[host] = offered
	}
	for _, host := range slices.Sorted(maps.Keys(all)) {
		text, err := json.Marshal(all[host])
		if err != nil {
			return nil, err
		}
		offered, wrong := decodeJSON(text)
		if wrong != nil {
			return nil, fmt.Errorf("the services of %s: %s", host, wrong.text)
		}
		add("host", object(host.String(), object("services", offered)))
	}
	if c.PluginCacheDir != "" {
		add("plugin_cache_dir", value{kind: isString, text: c.PluginCacheDir})
	}
	written := map[string]bool{}
	for _, s := range c.Settings {
		if s.Name == "credentials" && !written[s.Label] {
			written[s.Label] = true
			content, err := credentialsOf(c.Tokens, s.Label)
			if err != nil {
				return nil, err
			}
			add("credentials", object(s.Label, content))
		}
	}
	for _, path := range c.Files {
		more, err := others(path)
		if err != nil {
			return nil, err
		}
		whole.object = append(whole.object, more...)
	}
	text, err := whole.block()
	// Services are what hosts say, and in a "${}" a quotation mark needn't end a string for every reader of HCL.
	return bytes.ReplaceAll(text, []byte("${"), []byte(`\u0024{`)), err
}

// object is an object with one name in it.
func object(name string, content value) value {
	return value{kind: isObject, object: []field{{name: name, value: content}}}
}

// credentialsOf is the content of a host's block.
func credentialsOf(tokens *hosts.Tokens, label string) (content value, err error) {
	content.kind = isObject
	host, err := hosts.ParseHostname(label)
	if err != nil {
		return content, err
	}
	token, err := tokens.Token(context.Background(), host)
	if token != "" {
		content = object("token", value{kind: isString, text: token})
	}
	return content, err
}

// others is what a file says beside what is written already.
func others(path string) (all []field, err error) {
	src, err := wholefile.ReadAny(path, maxBytes)
	if err != nil {
		return nil, err
	}
	top, wrong := decode(src)
	if wrong != nil {
		return nil, fmt.Errorf("%s:%d: %s", path, wrong.line, wrong.text)
	}
	for _, f := range top.object {
		if f.is("host") || f.is("credentials") || f.is("plugin_cache_dir") {
			continue
		}
		if f.is("oci_default_credentials") {
			if err := makeFilesAbsolute(f.value, filepath.Dir(path)); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// makeFilesAbsolute changes the content of oci_default_credentials for a file in another directory than dir,
// where it is read from. The error is that the working directory isn't known.
func makeFilesAbsolute(v value, dir string) (err error) {
	content, _ := v.fields()
	for _, f := range content {
		for i, element := range f.value.list {
			if f.name == "docker_style_config_files" && element.kind == isString && !filepath.IsAbs(element.text) && err == nil {
				f.value.list[i].text, err = filepath.Abs(filepath.Join(dir, element.text))
			}
		}
	}
	return err
}

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) {
	switch {
	case v.kind == isObject:
		return value{kind: isList, list: []value{v}}.MarshalJSON()
	case v.kind == isList:
		elements := []json.RawMessage{}
		for _, element := range v.list {
			text, err := element.block()
			if element.kind != isObject {
				text, err = json.Marshal(element)
			}
			if err != nil {
				return nil, err
			}
			elements = append(elements, text)
		}
		return json.Marshal(elements)
	case (v.kind == isNumber || v.kind == isBool) && json.Valid([]byte(v.text)): // HCL has other forms, too
		return []byte(v.text), nil
	}
	return json.Marshal(v.text)
}

// block is an object as it is, with names that may occur repeatedly.
func (v value) block() ([]byte, error) {
	text := []byte("{")
	for i, f := range v.object {
		if i > 0 {
			text = append(text, ',')
		}
		pair, err := json.Marshal(map[string]value{f.name: f.value})
		if err != nil {
			return nil, err
		}
		text = append(text, pair[1:len(pair)-1]...)
	}
	return append(text, '}'), nil
}

// Package hostiletest makes registries that lie: each rule of testdata/hostile is one lie, and the errors that a client must
// report.
package hostiletest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// HostileRule is one way in which a registry lies, as data: testdata/hostile has a file for each.
// [NewHostile] starts such a registry.
type HostileRule struct {
	Name    string          `json:"-"` // the file's name without ".json"
	About   string          `json:"about"`
	Answers []HostileAnswer `json:"answers"`
	Sums    []HostileEdit   `json:"sums"`    // edits of the checksum list, before it is signed
	Archive *HostileArchive `json:"archive"` // nil means an honest one
	Key     string          `json:"key"`     // "" means an honest one; "other", "expired-signature", "revoked", "none", "many"
	Module  *string         `json:"module"`  // the module's location in the registry's response; nil means no module
	// Want maps each command that meets the lie to a part of its error; "" stands for all commands
	// that aren't named. A command with the text "-" doesn't meet the lie.
	Want map[string]string `json:"want"`
}

// HostileAnswer changes the responses of a kind, as for [providertest.Server.Break]. Redirect, Header and New in
// Edits may contain $BASE and $HOST for this server, and $OTHER for a server of another origin.
type HostileAnswer struct {
	Kind     string            `json:"kind"`
	Status   int               `json:"status"`
	Redirect string            `json:"redirect"`
	Header   map[string]string `json:"header"`
	Edits    []HostileEdit     `json:"edits"`
	CutAfter int64             `json:"cut"`
	NoRange  bool              `json:"norange"`
}

// HostileEdit replaces a part of bytes.
type HostileEdit struct {
	Old   string `json:"old"` // a regular expression; "" means all of it
	New   string `json:"new"`
	Hex   string `json:"hex"`   // bytes after New, which JSON can't hold
	Times int    `json:"times"` // how often the replacement is repeated; 0 means once
	Only  int    `json:"only"`  // which match is replaced, from 1; 0 means all
}

// ReadHostile reads the rules in a directory, in the order of their names.
func ReadHostile(dir string) (rules []HostileRule, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, name := range names {
		var content []byte
		if content, err = os.ReadFile(name); err != nil {
			return nil, err
		}
		rule := HostileRule{Name: strings.TrimSuffix(filepath.Base(name), ".json")}
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&rule); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if rule.About == "" {
			return nil, fmt.Errorf("%s: it doesn't say what it is about", name)
		}
		rules = append(rules, rule)
	}
	return rules, err
}

// HostileOptions configures NewHostile.
type HostileOptions struct {
	CA     *providertest.CA
	Signer *providertest.Signer
	Other  *providertest.Server // a server of another origin, with the same CA
}

// NewHostile starts a registry that has version 1.0.0 of the provider acme/tiny and lies about it as
// the rule says. If the rule is about modules, it also has version 1.0.0 of the module
// acme/net/cloud.
func NewHostile(rule HostileRule, o HostileOptions) (*providertest.Registry, error) {
	sums, err := editor(rule.Sums, func(text string) string { return text })
	if err != nil {
		return nil, err
	}
	registry, err := providertest.NewRegistry(providertest.Options{CA: o.CA, Signer: o.Signer, EditSums: sums})
	if err != nil {
		return nil, err
	}
	expand := strings.NewReplacer("$BASE", registry.BaseURL(), "$HOST", registry.Host(), "$OTHER", o.Other.BaseURL()).Replace
	spec := providertest.PackageSpec{Namespace: "acme", Type: "tiny", Version: "1.0.0"}
	if rule.Archive != nil {
		if spec.Archive, err = rule.Archive.bytes(); err != nil {
			registry.Close()
			return nil, err
		}
	}
	if err = rule.key(&spec); err == nil {
		registry.Add(spec)
		err = rule.breakAnswers(registry, expand)
	}
	if rule.Module != nil {
		registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "cloud", Version: "1.0.0", Location: expand(*rule.Module)})
		registry.AddArchive("net.tar.gz", providertest.TarGz(map[string]string{"main.tf": ""}))
	}
	if err != nil {
		registry.Close()
		return nil, err
	}
	return registry, nil
}

func (rule HostileRule) breakAnswers(registry *providertest.Registry, expand func(string) string) error {
	for _, a := range rule.Answers {
		edit, err := editor(a.Edits, expand)
		if err != nil {
			return err
		}
		fault := providertest.Fault{Status: a.Status, Redirect: expand(a.Redirect), CutAfter: a.CutAfter, NoRange: a.NoRange, Body: edit, Header: http.Header{}}
		for name, value := range a.Header {
			fault.Header.Set(name, expand(value))
		}
		registry.Break(a.Kind, fault)
	}
	return nil
}

// editor returns a function that applies edits to bytes; nil if edits is empty.
func editor(edits []HostileEdit, expand func(string) string) (func([]byte) []byte, error) {
	if len(edits) == 0 {
		return nil, nil
	}
	var steps []func([]byte) []byte
	for _, e := range edits {
		more, err := hex.DecodeString(e.Hex)
		if err != nil {
			return nil, err
		}
		text := bytes.Repeat(append([]byte(expand(e.New)), more...), max(e.Times, 1))
		old, err := regexp.Compile(e.Old)
		if err != nil {
			return nil, err
		}
		steps = append(steps, func(content []byte) []byte {
			if e.Old == "" {
				return text
			}
			match := 0
			return old.ReplaceAllFunc(content, func(found []byte) []byte {
				if match++; e.Only != 0 && e.Only != match {
					return found
				}
				return text
			})
		})
	}
	return func(content []byte) []byte {
		for _, step := range steps {
			content = step(content)
		}
		return content
	}, nil
}

// key sets who signs the package, and which keys the registry lists.
func (rule HostileRule) key(spec *providertest.PackageSpec) error {
	hour := time.Hour
	options := map[string]providertest.SignerOptions{
		"expired-signature": {Created: time.Now().Add(-3 * hour), SignedAt: time.Now().Add(-2 * hour), SignatureLifetime: hour},
		"revoked":           {}, "other": {}, "many": {},
	}
	switch opts, known := options[rule.Key]; {
	case rule.Key == "":
		return nil
	case rule.Key == "none":
		spec.Keys = []providertest.Key{}
		return nil
	case !known:
		return fmt.Errorf("there is no key %q", rule.Key)
	default:
		signer := providertest.NewSigner(opts)
		switch rule.Key {
		case "revoked":
			signer.Revoke()
			spec.Signer = signer
		case "other": // the registry lists a key that hasn't signed
			spec.Keys = []providertest.Key{signer.Key()}
		case "many":
			for range 10_000 {
				spec.Keys = append(spec.Keys, signer.Key())
			}
		default:
			spec.Signer = signer
		}
		return nil
	}
}

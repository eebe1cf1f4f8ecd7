package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// FileName is the record's file name in .terraform, or in TF_DATA_DIR.
const FileName = "terraform.tfstate"

// maxSize is the largest record that is read. The largest useful value is a bundle of certificates.
const maxSize = 16 << 20

// format is the only current version of the record's format.
const format = 3

// ErrFormat says that a file is no record, or has the format of a much older or newer product.
var ErrFormat = errors.New("not a backend record that can be used")

// Record is the recorded backend of a directory.
type Record struct {
	// Product is the version of Terraform that wrote the record; "" for OpenTofu, which records
	// none.
	Product string

	// Type is the type of the backend, or "" if the directory has none.
	Type string

	// Hash is the hash of the block in the configuration.
	Hash uint64

	config json.RawMessage
}

// wire is a record in JSON.
type wire struct {
	Version int          `json:"version"`
	Product string       `json:"terraform_version,omitempty"`
	Backend *wireBackend `json:"backend,omitempty"`

	// Used by other versions of Terraform only.
	Remote     json.RawMessage `json:"remote,omitempty"`
	StateStore json.RawMessage `json:"state_store,omitempty"`
}

type wireBackend struct {
	Type   string          `json:"type"`
	Config json.RawMessage `json:"config"`
	Hash   uint64          `json:"hash"`
}

// NewRecord returns the record of a configuration with values, as the product writes it.
func NewRecord(c *Config, product getproviders.Product) (*Record, error) {
	if c.value == cty.NilVal {
		return nil, fmt.Errorf("the backend %q has no values that could be written down", c.Type)
	}
	config, err := ctyjson.Marshal(c.value, c.as)
	if err != nil {
		return nil, fmt.Errorf("the values of the backend %q can't be written down: %w", c.Type, err)
	}
	version := product.Version
	if dialect.Of(product).Understands("bare_records") {
		version = ""
	}
	return &Record{Product: version, Type: c.Type, Hash: c.hash, config: config}, nil
}

// Read reads a record in fsys. A nil fsys means the file system of the process, and the zero product means Terraform. If the file doesn't exist, the
// Record is nil and there is no error. Unknown properties are ignored. Errors about the content are [ErrFormat].
func Read(fsys fs.FS, path string, product getproviders.Product) (*Record, error) {
	src, err := wholefile.ReadFS(fsys, path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the backend's record: %w", err)
	}
	if len(src) == 0 && dialect.Of(product).Understands("bare_records") {
		return nil, nil
	}
	record, err := parse(src, product)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return record, nil
}

func parse(src []byte, product getproviders.Product) (*Record, error) {
	var w wire
	if err := json.Unmarshal(src, &w); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if w.Version != format {
		return nil, fmt.Errorf("%w: its format is version %d, not %d", ErrFormat, w.Version, format)
	}
	isThere := func(part json.RawMessage) bool { return len(part) > 0 && string(part) != "null" }
	switch {
	case dialect.Of(product).Understands("bare_records"): // OpenTofu ignores both
	case w.Backend == nil && isThere(w.Remote):
		return nil, fmt.Errorf("%w: this working directory uses legacy remote state and so must first be upgraded using Terraform v0.9", ErrFormat)
	case isThere(w.StateStore):
		return nil, fmt.Errorf("%w: it is for a state store, an experiment of Terraform that tfdeps doesn't know", ErrFormat)
	}
	r := &Record{Product: w.Product}
	if w.Backend != nil {
		r.Type, r.Hash, r.config = w.Backend.Type, w.Backend.Hash, w.Backend.Config
	}
	return r, nil
}

// Encode returns the record byte for byte as the product writes it: OpenTofu indents it twice as
// far, and ends it with a newline.
func (r *Record) Encode() ([]byte, error) {
	w := wire{Version: format, Product: r.Product}
	if r.Type != "" {
		w.Backend = &wireBackend{Type: r.Type, Config: r.config, Hash: r.Hash}
	}
	if r.Product != "" {
		return json.MarshalIndent(w, "", "  ")
	}
	content, err := json.MarshalIndent(w, "", "    ")
	return append(content, '\n'), err
}

// Save writes the record by a rename, readable for its owner only. It doesn't touch a file with the
// same content. It creates missing directories.
func (r *Record) Save(path string) error {
	content, err := r.Encode()
	if err != nil {
		return fmt.Errorf("writing the backend's record: %w", err)
	}
	if err := wholefile.Save(path, content, 0o600); err != nil {
		return fmt.Errorf("writing the backend's record: %w", err)
	}
	return nil
}

// Change is how a backend has changed since its record was written.
type Change int

const (
	// None: neither the record nor the configuration has a backend.
	None Change = iota
	// Unchanged: the record is valid for the configuration.
	Unchanged
	// Rehashed: the values are unchanged, but the hash isn't; the record should be written again,
	// and the state stays where it is.
	Rehashed
	// Added: the configuration has a backend, the record doesn't.
	Added
	// Changed: the backend has the same type and other values.
	Changed
	// Replaced: the backend has another type.
	Replaced
	// Removed: the record has a backend, the configuration doesn't.
	Removed
)

// Compare compares a configuration, nil without a block, with a record, nil if none exists.
// overridden says that -backend-config was given, so that values are compared even if the hash is
// the same; a configuration without values is Changed then.
func (r *Record) Compare(c *Config, overridden bool) Change {
	recorded := r != nil && r.Type != ""
	switch {
	case !recorded && c == nil:
		return None
	case !recorded:
		return Added
	case c == nil:
		return Removed
	case r.Type != c.Type:
		return Replaced
	case r.Hash == c.hash && !overridden:
		return Unchanged
	case !r.holds(c):
		return Changed
	case r.Hash != c.hash:
		return Rehashed
	default:
		return Unchanged
	}
}

// Check reports why the product can't use the record of a block that hasn't changed since: it decodes and checks the recorded values
// whenever it reads the record, with the environment of that moment, and doesn't look at the block's. Diagnostics have the block's
// place, and show no values.
func (r *Record) Check(block load.Backend, opts Options) hcl.Diagnostics {
	types, err := table(opts.Product)
	if err != nil {
		return hcl.Diagnostics{diagnostic.Error(block.Range, "Unknown types of backends", "%v", err)}
	}

	schema := types[r.Type]
	value, err := ctyjson.Unmarshal(r.config, schema.valueType())
	if err == nil && value.IsNull() {
		err = errors.New("there are none")
	}
	if err != nil {
		if newer := load.Newer(opts.Product, block.Range); newer != nil {
			return hcl.Diagnostics{newer}
		}
		return hcl.Diagnostics{diagnostic.Error(block.Range, "Failed to decode current backend config",
			"The values of this backend that an earlier init recorded can't be used: %v. Another version may have recorded them. "+
				"The option -reconfigure records them again; if -backend-config was given then, give it again.", err)}
	}

	missing := missing(block, schema, value, opts.Getenv)
	return append(missing, checkRules(block, value, opts)...)
}

// holds reports whether the record has the configuration's values.
func (r *Record) holds(c *Config) bool {
	value, err := ctyjson.Unmarshal(r.config, c.as)
	if err != nil || c.value == cty.NilVal {
		return false
	}
	return value.RawEquals(c.value)
}

// Renumbered returns the record with the hash of another record, and its own values unchanged: null
// arguments may be missing in them.
func (r *Record) Renumbered(as *Record) *Record {
	return &Record{Product: as.Product, Type: r.Type, Hash: as.Hash, config: r.config}
}

// Text returns the value of a string argument, or "".
func (r *Record) Text(name string) string {
	as, err := ctyjson.ImpliedType(r.config)
	if err != nil || !as.IsObjectType() {
		return ""
	}
	value, err := ctyjson.Unmarshal(r.config, as)
	if err != nil || value.Type() == cty.NilType {
		return ""
	}
	return textOf(value, name)
}

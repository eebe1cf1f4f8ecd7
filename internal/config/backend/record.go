package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// FileName is what the record is called, in .terraform or what stands for it.
const FileName = "terraform.tfstate"

// maxSize bounds a record. The largest value that makes sense in one is a
// bundle of certificates.
const maxSize = 16 << 20

// format is the only version of the record's format that there still is.
const format = 3

// ErrFormat says that a file is no record, or one that a product wrote which is
// far older or younger than any that is known.
var ErrFormat = errors.New("not a backend record that can be used")

// Record is what was noted of the backend of a directory.
type Record struct {
	// Product is the version that wrote the record; "" if it is OpenTofu, which
	// notes none.
	Product string

	// Type is the type of the backend, "" if the directory has none.
	Type string

	// Hash stands for the block that was in the configuration.
	Hash uint64

	config json.RawMessage
}

// wire is a record as it is written.
type wire struct {
	Version int          `json:"version"`
	Product string       `json:"terraform_version,omitempty"`
	Backend *wireBackend `json:"backend,omitempty"`

	// What only other versions of Terraform understand.
	Remote     json.RawMessage `json:"remote,omitempty"`
	StateStore json.RawMessage `json:"state_store,omitempty"`
}

type wireBackend struct {
	Type   string          `json:"type"`
	Config json.RawMessage `json:"config"`
	Hash   uint64          `json:"hash"`
}

// NewRecord makes the record of a configuration that has values, as the product
// writes it.
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

// Read reads a record in fsys, as a product does; nil is the file system of the process, and the zero product is Terraform. That there is none is no error: the Record
// is nil. What else may be in it is passed over. Errors about what the file holds are
// [ErrFormat].
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
	case dialect.Of(product).Understands("bare_records"): // it passes over both
	case w.Backend == nil && isThere(w.Remote):
		return nil, fmt.Errorf("%w: this working directory uses legacy remote state and so must first be upgraded using Terraform v0.9", ErrFormat)
	case isThere(w.StateStore):
		return nil, fmt.Errorf("%w: it is about a state store, an experiment of Terraform that isn't known here", ErrFormat)
	}
	r := &Record{Product: w.Product}
	if w.Backend != nil {
		r.Type, r.Hash, r.config = w.Backend.Type, w.Backend.Hash, w.Backend.Config
	}
	return r, nil
}

// Encode returns the record as Terraform writes it, byte for byte: OpenTofu
// indents it twice as far, and ends it with a line feed.
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

// Save writes the record, in one step and readable for its owner only. A file
// that has these bytes already is left alone. Directories above it are made.
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

// Change is what has become of a backend since its record was written.
type Change int

const (
	// None: there was no backend, and there is none.
	None Change = iota
	// Unchanged: the record holds for this configuration.
	Unchanged
	// Rehashed: it has the right values and another number; it should be
	// written again, and state stays where it is.
	Rehashed
	// Added: there is a backend for the first time.
	Added
	// Changed: the backend has the same type, and other values.
	Changed
	// Replaced: the backend has another type.
	Replaced
	// Removed: there was a backend, and now there is none.
	Removed
)

// Compare says what a configuration, nil if it has no such block, is to a
// record, nil if there is none. With overridden, -backend-config was given, so
// that the values count even where the block is the same; a configuration
// without values is another one then.
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

// holds reports whether the values of the record are those of the configuration.
func (r *Record) holds(c *Config) bool {
	value, err := ctyjson.Unmarshal(r.config, c.as)
	if err != nil || c.value == cty.NilVal {
		return false
	}
	return value.RawEquals(c.value)
}

// Renumbered returns the record with the number of another one, and its own values as they
// were written: arguments that have no value may be missing there.
func (r *Record) Renumbered(as *Record) *Record {
	return &Record{Product: as.Product, Type: r.Type, Hash: as.Hash, config: r.config}
}

// Text returns the value of an argument that is a string; "" if it has none.
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

package load

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/outline"
	"github.com/tfdeps/tfdeps/internal/config/static"
)

// outlinedFrom is how many bytes the files of a directory have at least of which an outline is kept: parsing fewer takes four milliseconds.
const outlinedFrom = 16 << 10

// recall finds what an earlier run kept of the files in a directory, and fills in those that it has read.
func (b *builder) recall(names []string) {
	opts := b.module.Options
	sum, size := sha256.New(), 0
	fmt.Fprintf(sum, "%q %q %t", b.product.Name, b.product.Version, opts.Path == "")
	b.texts = map[string][]byte{}
	for _, name := range names {
		full := filepath.Join(b.module.Dir, name)
		text, err := b.files.Read(full, maxFileBytes)
		if err != nil {
			return // it is reported when the file is read again
		}
		fmt.Fprintf(sum, "%q %x", name, sha256.Sum256(text))
		b.texts[full], size = text, size+len(text)
	}
	if size < outlinedFrom && !opts.outlineAll {
		return
	}
	b.outlineKey = fmt.Sprintf("%x", sum.Sum(nil))
	content, ok := opts.Outlines.Get(b.outlineKey)
	var parts map[string][]static.Part // by the names without the directory
	if !ok || json.Unmarshal(content, &parts) != nil || len(parts) != len(names) {
		return
	}
	outlined := map[string]*hcl.File{}
	for full, text := range b.texts {
		if outlined[full], ok = b.parser.ParseParts(text, parts[filepath.Base(full)], full); !ok {
			return
		}
	}
	b.outlined = outlined
}

// keepOutline keeps what the files of a module without any problem have to say.
func (b *builder) keepOutline(store Outlines) {
	files := map[string]*hcl.File{}
	for full := range b.texts {
		if file := b.module.Files[full]; file != nil {
			files[filepath.Base(full)] = file
		}
	}
	if b.outlineKey == "" || b.outlined != nil || len(b.module.LeftToPlan) > 0 || len(files) < len(b.texts) {
		return
	}
	if parts, ok := outline.Of(files); ok {
		if content, err := json.Marshal(parts); err == nil {
			store.Put(b.outlineKey, content)
		}
	}
}

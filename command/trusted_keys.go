package command

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// maxKeyBytes bounds a file with a public key.
const maxKeyBytes = 1 << 20

// signers says whose signatures count in mirrors: besides those that everybody
// trusts, the keys that the user names, each as a file with an ASCII-armored
// public key, for all providers or, behind PATTERN=, for those that match.
func (m *Meta) signers(product getproviders.Product) (signers getproviders.Signers, problems view.Problems) {
	signers.Now = m.Now
	for _, given := range filepath.SplitList(m.Env.Get(trustedKeysVariable)) {
		if given == "" {
			continue
		}
		key, err := readTrustedKey(given, product)
		if err != nil {
			problems = append(problems, view.NewError("Invalid trusted key", fmt.Sprintf(
				"The value of %s can't be used: %v. It takes files with ASCII-armored public keys, each as FILE or PATTERN=FILE.", trustedKeysVariable, err)))
			continue
		}
		signers.Trusted = append(signers.Trusted, key)
	}
	return signers, problems
}

func readTrustedKey(given string, product getproviders.Product) (key getproviders.TrustedKey, err error) {
	path := given
	if text, file, ok := strings.Cut(given, "="); ok {
		pattern, err := product.ParsePattern(text)
		if err != nil {
			return key, err
		}
		path, key.Providers = file, []getproviders.Pattern{pattern}
	}
	content, err := wholefile.Read(path, maxKeyBytes)
	if err != nil {
		return key, err
	}
	key.Armored = string(content)
	if err := key.Check(); err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

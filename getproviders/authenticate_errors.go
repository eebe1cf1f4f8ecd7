package getproviders

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// errUnknownIssuer is within the error of a checksum list that none of the registry's keys signed.
var errUnknownIssuer = errors.New("unknown issuer")

// unknownIssuer says that a checksum list is signed by none of the keys that the registry names.
func (c signedChecksums) unknownIssuer(keys []string) error {
	signature, known := "no signature", cmp.Or(strings.Join(keys, ", "), "none")
	if issuer := issuerOf(c.Signature); issuer != "" {
		signature = "a signature by key " + issuer
	}
	return &Fault{
		Code: "unknown_signer", Kind: ErrAuthentication,
		Err:  fmt.Errorf("the checksum list has %s, from an %w; keys that the registry names: %s", signature, errUnknownIssuer, known),
		Hint: "don't use the package: the registry doesn't list this key. Ask the provider's publisher; if the key is theirs, they have to add it to the registry" + listAt(c.sumsURL),
	}
}

// badSignature says that a signature is not valid, or that it or a key can't be read. Of the key and
// the URL of the checksum list, what isn't known is "".
func badSignature(subject, key, list string, err error) error {
	if key != "" {
		key = " by key " + key
	}
	return &Fault{
		Code: "invalid_signature", Kind: ErrAuthentication, Err: fmt.Errorf("can't verify %s: %w", subject, err),
		Hint: "the checksum list or its signature" + key +
			" was changed on its way, or was published wrongly. Don't use the package; if it happens again, tell the provider's publisher" + listAt(list),
	}
}

// listAt says where a checksum list is.
func listAt(url string) string {
	if url == "" {
		return ""
	}
	return ". The checksum list is at " + url
}

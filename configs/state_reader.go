package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// stateVersion is the format that Terraform writes since 0.12, and every
// OpenTofu.
const stateVersion = "4"

// stateReader walks through a state.
type stateReader struct{ dec *json.Decoder }

// properties calls visit with the name of each property of an object whose
// opening brace was read. The visitor has to read the value.
func (s stateReader) properties(visit func(name string) error) error {
	for s.dec.More() {
		token, err := s.dec.Token()
		if err != nil {
			return unexpectedEOF(err)
		}
		name, _ := token.(string) // the decoder accepts nothing else here
		if err := visit(name); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return unexpectedEOF(err)
}

// version reads the format's version, which has to be ours.
func (s stateReader) version() error {
	token, err := s.dec.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	switch version, ok := token.(json.Number); {
	case !ok || strings.Trim(version.String(), "0123456789") != "":
		return fmt.Errorf("%w: it is not a positive whole number", ErrStateVersion)
	case version == stateVersion:
		return nil
	case len(version) == 1 && version < stateVersion:
		return fmt.Errorf("%w %s: upgrade the state first, with terraform apply of Terraform 0.12 and then 0.13", ErrStateVersion, version)
	default:
		return fmt.Errorf("%w %s: only %s is known", ErrStateVersion, version, stateVersion)
	}
}

// resources reads the list of resources, which may be null.
func (s stateReader) resources(addresses map[string]bool) error {
	switch token, err := s.dec.Token(); {
	case err != nil:
		return unexpectedEOF(err)
	case token == nil:
		return nil
	case token != json.Delim('['):
		return errors.New(`"resources" is not a list`)
	}
	for s.dec.More() {
		if token, err := s.dec.Token(); err != nil {
			return unexpectedEOF(err)
		} else if token != json.Delim('{') {
			return errors.New("a resource is not an object")
		}
		if err := s.properties(func(name string) error { return s.property(name, addresses) }); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return unexpectedEOF(err)
}

// property reads a property of a resource.
func (s stateReader) property(name string, addresses map[string]bool) error {
	if !strings.EqualFold(name, "provider") {
		return s.skip()
	}
	token, err := s.dec.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	address, ok := token.(string)
	if !ok && token != nil {
		return errors.New(`the "provider" of a resource is not a string`)
	}
	addresses[address] = true
	return nil
}

// skip reads a value of any kind.
func (s stateReader) skip() error {
	for depth := 0; ; {
		token, err := s.dec.Token()
		if err != nil {
			return unexpectedEOF(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// unexpectedEOF is for the places where the file mustn't end.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

package functions

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"hash"
	"math/big"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	gocidr "github.com/apparentlymart/go-cidr/cidr"
	"github.com/hashicorp/go-cty-funcs/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/gocty"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// text makes a function of strings whose result is a string.
func text(names string, compute func(args []string) (string, error)) function.Function {
	var params []function.Parameter
	for _, name := range strings.Fields(names) {
		params = append(params, function.Parameter{Name: name, Type: cty.String})
	}
	return returning(cty.String, func(args []cty.Value) (cty.Value, error) {
		var words []string
		for _, arg := range args {
			words = append(words, arg.AsString())
		}
		result, err := compute(words)
		if err != nil {
			return cty.UnknownVal(cty.String), err
		}
		return cty.StringVal(result), nil
	}, params...)
}

// ofText is text with one parameter.
func ofText(name string, compute func(given string) (string, error)) function.Function {
	return text(name, func(args []string) (string, error) { return compute(args[0]) })
}

// compared makes a function that compares two strings.
func compared(name string, compare func(text, part string) bool) function.Function {
	return returning(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		return cty.BoolVal(compare(args[0].AsString(), args[1].AsString())), nil
	}, param("str", cty.String), function.Parameter{Name: name, Type: cty.String})
}

// base64Sum makes a function that returns the checksum of text in base64.
func base64Sum(make func() hash.Hash) function.Function {
	return ofText("str", func(given string) (string, error) {
		sum := make()
		sum.Write([]byte(given))
		return base64.StdEncoding.EncodeToString(sum.Sum(nil)), nil
	})
}

var gzipped = ofText("str", func(given string) (string, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(given)); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
})

// Functions for text in other encodings, such as UTF-16LE.
var (
	textEncode = text("string encoding", func(args []string) (string, error) {
		charset, err := findEncoding(args[1])
		if err != nil {
			return "", err
		}
		encoded, err := charset.NewEncoder().Bytes([]byte(args[0]))
		if err != nil {
			return "", function.NewArgErrorf(0, "has characters that %s doesn't have", args[1])
		}
		return base64.StdEncoding.EncodeToString(encoded), nil
	})
	textDecode = text("source encoding", func(args []string) (string, error) {
		charset, err := findEncoding(args[1])
		if err != nil {
			return "", err
		}
		encoded, err := base64.StdEncoding.DecodeString(args[0])
		if err != nil {
			return "", function.NewArgErrorf(0, "isn't base64: %v", err)
		}
		decoded, err := charset.NewDecoder().Bytes(encoded)
		if err != nil || bytes.ContainsRune(decoded, utf8.RuneError) {
			return "", function.NewArgErrorf(0, "isn't text in %s", args[1])
		}
		return string(decoded), nil
	})
)

// findEncoding returns an encoding of Unicode, or one with single-byte characters. The tables of
// the others would make the program 2 MB larger.
func findEncoding(name string) (encoding.Encoding, error) {
	switch strings.ToUpper(name) {
	case "UTF-8":
		return unicode.UTF8, nil
	case "UTF-16":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM), nil
	case "UTF-16BE":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	case "UTF-16LE":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	}
	plain := strings.NewReplacer("ISO-8859", "ISO 8859", "WINDOWS-", "WINDOWS ", "CP", "IBM CODE PAGE ", "IBM", "IBM CODE PAGE ", "LATIN1", "ISO 8859-1").Replace(strings.ToUpper(name))
	for _, charset := range charmap.All {
		if named, ok := charset.(fmt.Stringer); ok && strings.EqualFold(named.String(), plain) {
			return charset, nil
		}
	}
	return nil, function.NewArgErrorf(1, "%q is not a known encoding: those of Unicode, ISO-8859, windows-125x, KOI8 and IBM are", name)
}

// timeCompare returns -1, 0 or 1 for two times.
var timeCompare = returning(cty.Number, func(args []cty.Value) (cty.Value, error) {
	var times [2]time.Time
	for i, arg := range args {
		parsed, err := time.Parse(time.RFC3339, arg.AsString())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(i, "is not a time such as 2006-01-02T15:04:05Z: %q", arg.AsString())
		}
		times[i] = parsed
	}
	return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
}, param("timestamp_a", cty.String), param("timestamp_b", cty.String))

// later is a function without parameters whose result, a string, only plan knows.
var later = function.Unpredictable(uuid.V4Func)

// network parses an address with a prefix.
func network(arg cty.Value) (*net.IPNet, error) {
	_, parsed, err := net.ParseCIDR(arg.AsString())
	if err != nil {
		return nil, function.NewArgErrorf(0, "invalid CIDR expression: %v", err)
	}
	return parsed, nil
}

var netmask = returning(cty.String, func(args []cty.Value) (cty.Value, error) {
	parsed, err := network(args[0])
	if err != nil {
		return cty.NilVal, err
	}
	if len(parsed.Mask) != net.IPv4len {
		return cty.NilVal, function.NewArgErrorf(0, "IPv6 has no netmasks")
	}
	return cty.StringVal(net.IP(parsed.Mask).String()), nil
}, param("prefix", cty.String))

// host is the address with a number in a network.
var host = returning(cty.String, func(args []cty.Value) (cty.Value, error) {
	var number *big.Int
	if err := gocty.FromCtyValue(args[1], &number); err != nil {
		return cty.NilVal, function.NewArgError(1, err)
	}
	parsed, err := network(args[0])
	if err != nil {
		return cty.NilVal, err
	}
	found, err := gocidr.HostBig(parsed, number)
	if err != nil {
		return cty.NilVal, err
	}
	return cty.StringVal(found.String()), nil
}, param("prefix", cty.String), param("hostnum", cty.Number))

// subnet is the network with a number in a larger network.
var subnet = returning(cty.String, func(args []cty.Value) (cty.Value, error) {
	var bits int
	if err := gocty.FromCtyValue(args[1], &bits); err != nil {
		return cty.NilVal, function.NewArgError(1, err)
	}
	var number *big.Int
	if err := gocty.FromCtyValue(args[2], &number); err != nil {
		return cty.NilVal, function.NewArgError(2, err)
	}
	parsed, err := network(args[0])
	if err != nil {
		return cty.NilVal, err
	}
	if bits < -8*net.IPv6len || bits > 8*net.IPv6len {
		return cty.NilVal, function.NewArgErrorf(1, "a prefix can't be made longer by %d bits", bits)
	}
	found, err := gocidr.SubnetBig(parsed, bits, number)
	if err != nil {
		return cty.NilVal, fmt.Errorf("no such subnet: %w", err)
	}
	return cty.StringVal(found.String()), nil
}, param("prefix", cty.String), param("newbits", cty.Number), param("netnum", cty.Number))

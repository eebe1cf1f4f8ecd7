package functions

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	gocidr "github.com/apparentlymart/go-cidr/cidr"
	"github.com/hashicorp/go-cty-funcs/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// openTofu changes a table to that of OpenTofu.
func (env Environment) openTofu(table map[string]function.Function) {
	delete(table, "convert")
	now := env.Now
	if now == nil {
		now = time.Now
	}
	table["timestamp"] = text("", func([]string) (string, error) { return now().UTC().Format(time.RFC3339), nil })
	table["uuid"] = uuid.V4Func
	table["base64gunzip"] = ofText("str", func(packed string) (string, error) { return gunzip(packed, env.MaxBytes) })
	table["urldecode"] = ofText("str", url.QueryUnescape)
	table["cidrcontains"] = returning(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		containing, err := network(args[0])
		if err != nil {
			return cty.NilVal, err
		}
		within, err := covers(containing, args[1].AsString())
		return cty.BoolVal(within), err
	}, param("containing_prefix", cty.String), param("contained_ip_or_prefix", cty.String))
}

// gunzip undoes base64gzip, up to a size.
func gunzip(encoded string, most int) (string, error) {
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", errors.New("failed to decode base64 data")
	}
	unpacking, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("failed to gunzip bytestream: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(unpacking, int64(most)+1))
	if err != nil {
		return "", fmt.Errorf("failed to read gunzip raw data: %w", err)
	}
	if len(plain) > most {
		return "", errors.New("the result would be too large")
	}
	return string(plain), nil
}

// covers reports whether a network has an address, or all addresses of another network. Addresses of different
// kinds are an error.
func covers(containing *net.IPNet, given string) (bool, error) {
	first := net.ParseIP(given)
	last := first
	if first == nil {
		_, contained, err := net.ParseCIDR(given)
		if err != nil {
			return false, fmt.Errorf("invalid IP address or prefix: %s", given)
		}
		first, last = gocidr.AddressRange(contained)
	}
	if (first.To4() == nil) != (containing.IP.To4() == nil) {
		return false, fmt.Errorf("address family mismatch: %s vs. %s", containing, given)
	}
	return containing.Contains(first) && containing.Contains(last), nil
}

package fetch

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// readMeta finds the content of the first <meta name="terraform-get"> that has one,
// in the head of a page. It returns "" if there is none.
func readMeta(page io.Reader, limit int64) (string, error) {
	decoder := xml.NewDecoder(io.LimitReader(page, limit))
	decoder.Strict = false
	decoder.AutoClose = xml.HTMLAutoClose
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // the tag itself is ASCII
	for {
		token, err := decoder.RawToken()
		if _, isSyntax := errors.AsType[*xml.SyntaxError](err); err == io.EOF || isSyntax {
			return "", nil // not a page, or not a head that can be read
		}
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.EndElement:
			if strings.EqualFold(token.Name.Local, "head") {
				return "", nil
			}
		case xml.StartElement:
			if strings.EqualFold(token.Name.Local, "body") {
				return "", nil
			}
			if content := metaContent(token); content != "" {
				return content, nil
			}
		}
	}
}

func metaContent(element xml.StartElement) string {
	if !strings.EqualFold(element.Name.Local, "meta") {
		return ""
	}
	name, content := "", ""
	for _, attribute := range element.Attr {
		switch strings.ToLower(attribute.Name.Local) {
		case "name":
			name = attribute.Value
		case "content":
			content = attribute.Value
		}
	}
	if name != "terraform-get" {
		return ""
	}
	return content
}

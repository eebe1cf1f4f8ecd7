package hosts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// maxSaid is how many characters of a server's message are shown.
const maxSaid = 300

// SaidBy returns a server's message in an answer with an error status, as the end of an error's text. It returns ""
// for a web page, and for a message that only repeats the status. It reads and closes the body.
func SaidBy(resp *http.Response) string {
	if resp.StatusCode < http.StatusBadRequest {
		return ""
	}
	return said(resp, readSome(resp))
}

// said is SaidBy for a body that was read. The message is quoted, with control characters escaped, and without secrets of the
// request and queries of URLs.
func said(resp *http.Response, body []byte) string {
	text := strings.ToValidUTF8(string(body), "")
	var answer struct{ Errors []string } // as registries write it
	if json.Unmarshal(body, &answer) == nil && len(answer.Errors) > 0 {
		text = strings.Join(answer.Errors, "; ")
	}
	words := strings.Fields(text)
	for i, word := range words {
		u, err := url.Parse(word)
		switch isURL := strings.Contains(word, "://"); {
		case secretIn(resp.Request, word), isURL && err != nil:
			words[i] = redacted
		case isURL:
			words[i] = RedactURL(u)
		}
	}
	text = strings.Join(words, " ")
	if text == "" || text[0] == '<' || strings.EqualFold(text, http.StatusText(resp.StatusCode)) {
		return ""
	}
	if letters := []rune(text); len(letters) > maxSaid {
		text = string(letters[:maxSaid]) + "..."
	}
	return fmt.Sprintf("; the server says %q", text)
}

// secretIn reports whether a word contains a secret of the request.
func secretIn(req *http.Request, word string) bool {
	for field := range strings.FieldsSeq(req.Header.Get("Authorization")) {
		if len(field) >= 8 && strings.Contains(word, field) {
			return true
		}
	}
	password, _ := req.URL.User.Password()
	return len(password) >= 4 && strings.Contains(word, password)
}

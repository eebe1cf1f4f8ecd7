package hosts

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestWithRevalidation_GetsADocumentOnce(t *testing.T) {
	sent, version, content := 0, 1, "application/json; charset=utf-8"
	registry := startPlain(t, func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf(`"%d"`, version)
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		w.Header().Set("Content-Type", content)
		w.Header().Set("X-Version", tag)
		fmt.Fprintf(w, "%d for %s", version, r.Header.Get("Authorization"))
	})
	client := WithRevalidation(registry.Client())
	ask := func(token string) string {
		t.Helper()
		req := get(t, registry.URL)
		req.Header.Set("Authorization", token)
		resp := must.Get(client.Do(req))(t)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/") {
			t.Errorf("%s, %v, %v", resp.Status, err, resp.Header)
		}
		return string(body) + " " + resp.Header.Get("X-Version")
	}
	for _, step := range []struct {
		token, want string
		sent        int
	}{{"a", `1 for a "1"`, 1}, {"a", `1 for a "1"`, 1}, {"b", `1 for b "1"`, 2}, {"a", `1 for a "1"`, 2}} {
		must.Equal(t, ask(step.token), step.want, step.token)
		must.Equal(t, sent, step.sent, step.token)
	}
	version = 2
	must.Equal(t, ask("a"), `2 for a "2"`)
	content, version = "application/zip", 3
	ask("a")
	if ask("a"); sent != 5 {
		t.Errorf("an archive is remembered: %d were sent, want 5", sent)
	}
	registry.Close()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		must.Refuse(client.Transport.RoundTrip(mustRequest(t, method, registry.URL)))(t, method)
	}
}

package hosts

import (
	"net/http"
	"strings"
	"testing"
)

func TestRefusal_ARefusalIsExplained(t *testing.T) {
	const api = "https://api.example.com/v1"
	for name, c := range map[string]struct {
		asked, answered string
		header          http.Header
		host            Hostname
		sent            bool
		advice          string
	}{
		"no token":      {api, api, nil, "example.com", false, `the program needs credentials for "example.com"`},
		"a token":       {api, api, http.Header{"Authorization": {"Bearer s3cret"}}, "example.com", true, "may have expired"},
		"a user":        {"https://me:s3cret@api.example.com/v1", api, nil, "example.com", true, "in the URL"},
		"plain http":    {"http://api.example.com/v1", "http://api.example.com/v1", nil, "example.com", false, "https URL"},
		"somebody else": {api, "https://other.example/v1", nil, "other.example", false, "was redirected there from https://api.example.com/v1"},
	} {
		got := ExplainRefusal("example.com", DocumentRequest{URL: mustURL(t, c.asked), Header: c.header}, &Document{URL: mustURL(t, c.answered)})
		if got.Host != c.host || got.Sent != c.sent || !strings.Contains(got.Hint(), c.advice) || strings.Contains(got.Hint(), "s3cret") {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestRefusal_WhatAHostThatRefusesSays(t *testing.T) {
	for _, c := range []struct {
		refusal Refusal
		status  int
		want    string
	}{
		{Refusal{Sent: true}, 403, "rejected"},
		{Refusal{}, 403, "denies access"},
		{Refusal{}, 401, "requires"},
	} {
		if got := c.refusal.Says(c.status); !strings.HasPrefix(got, c.want) || !Refuses(c.status) {
			t.Errorf("%+v, %d: got %q", c.refusal, c.status, got)
		}
	}
	if Refuses(http.StatusNotFound) {
		t.Error("404 is about credentials")
	}
}

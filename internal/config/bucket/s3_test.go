package bucket

import (
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/awslogin"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// TestParseS3_KnowsTheFormsOfTerraform maps addresses to region, bucket, key, version and endpoint, separated by commas.
func TestParseS3_KnowsTheFormsOfTerraform(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://s3.amazonaws.com/b/k/l":                "us-east-1,b,k/l,,",
		"https://s3-eu-west-1.amazonaws.com/b/k":        "eu-west-1,b,k,,",
		"https://s3.amazonaws.com/b/":                   "us-east-1,b,,,",
		"https://b.s3-eu-west-1.amazonaws.com/k/l":      "eu-west-1,b,k/l,,",
		"https://b.s3.eu-west-1.amazonaws.com/k/l":      "eu-west-1,b,k/l,,",
		"https://b.s3.cn-north-1.amazonaws.com.cn/k":    "cn-north-1,b,k,,",
		"https://b.s3.eusc-de-east-1.amazonaws.eu/k":    "eusc-de-east-1,b,k,,",
		"https://s3.amazonaws.com/b/k?version=7":        "us-east-1,b,k,7,",
		"https://s3.amazonaws.com/b/k?region=eu-west-1": "us-east-1,b,k,,",
		"http://localhost:9000/b/k?region=x&version=7":  "x,b,k,7,http://localhost:9000",
		"https://minio.example.com/b/k/l":               "us-east-1,b,k/l,,https://minio.example.com",
		"https://s3.amazonaws.com:443/b/k":              "us-east-1,b,k,,https://s3.amazonaws.com:443",
	} {
		parts := strings.Split(want, ",")
		checkS3(t, text, s3Address{region: parts[0], bucket: parts[1], key: parts[2], version: parts[3], endpoint: parts[4], login: awslogin.Login{Region: parts[0]}})
	}
	checkS3(t, "https://s3.amazonaws.com/b/k?aws_access_key_id=i&aws_access_key_secret=s&aws_access_token=t", s3Address{
		bucket: "b", key: "k", region: "us-east-1", login: awslogin.Login{Region: "us-east-1", Static: true, ID: "i", Secret: "s", Token: "t"}})
	checkS3(t, "https://h/b/k?aws_profile=p&region=r&aws_access_key_id=i", s3Address{
		bucket: "b", key: "k", region: "r", endpoint: "https://h", login: awslogin.Login{Profile: "p"}})
}

func checkS3(t *testing.T, text string, want s3Address) {
	t.Helper()
	u := must.Get(url.Parse(text))(t)
	must.Equal(t, must.Get(parseS3(u, true))(t), want, text)
}

func TestParseS3_RefusesWhatNamesNoObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://amazonaws.com/b/k", "https://s3.amazonaws.com/b", "https://s3.amazonaws.com", "https://b.s3.amazonaws.com/k",
		"https://a.b.s3.eu-west-1.amazonaws.com/k", "https://b.s3.eu-west-1.amazonaws.com", "https://localhost/b", "https://localhost",
	} {
		must.Fail(t, must.ErrorOf(open(t, &Services{}, "s3", text)), ErrAddress, text)
	}
}

// newS3 is S3 with one object.
func newS3(t *testing.T) *providertest.Server {
	t.Helper()
	return storagetest.StartS3(t, map[string]string{"a": "content"})
}

const staticKeys = "aws_access_key_id=id&aws_access_key_secret=secret"

func TestS3_ListsAllPages(t *testing.T) {
	t.Parallel()
	s3 := storagetest.StartS3(t, map[string]string{"a": "", "d/1": "", "d/2": "", "d/3": "", "d/4": ""})
	s := &Services{}
	t.Cleanup(s.Close)
	wantKeys(t, s, "s3", s3.BaseURL()+"/bucket/d/?"+staticKeys, "d/1", "d/2", "d/3", "d/4")
	wantKeys(t, s, "s3", s3.BaseURL()+"/bucket/x?"+staticKeys)
}

// TestKeys_End has services with a page of a list that links to itself.
func TestKeys_End(t *testing.T) {
	t.Parallel()
	pages := 0
	service := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		pages++
		if strings.HasPrefix(r.URL.Path, "/storage/") {
			fmt.Fprintf(w, `{"items": [{"name": "k/%d"}], "nextPageToken": "1"}`, pages)
			return
		}
		fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken><Contents><Key>k/%d</Key></Contents></ListBucketResult>", pages)
	})
	for kind, address := range map[string]string{"s3": service.BaseURL() + "/b/k?" + staticKeys, "gcs": gcsBucket + "k"} {
		s := &Services{Client: toward(service.BaseURL()), Environ: []string{"STORAGE_EMULATOR_HOST=" + service.BaseURL()}}
		t.Cleanup(s.Close)
		objects := must.Get(open(t, s, kind, address))(t)
		pages = 0
		var last error
		for _, last = range objects.Keys(t.Context()) {
			if pages > 20 {
				break
			}
		}
		must.Fail(t, last, hosts.ErrPages, kind)
		must.Contain(t, last, "names itself as the next page", kind)
		must.Contain(t, last, "http", kind)
		must.Equal(t, pages, 2, kind)
	}
}

func TestS3_AsksForTheVersionByPath(t *testing.T) {
	t.Parallel()
	s3 := storagetest.StartS3(t, map[string]string{"a/b c": "content"})
	s := &Services{}
	t.Cleanup(s.Close)
	must.Equal(t, must.Get(read(t, s, "s3", s3.BaseURL()+"/bucket/a/b%20c?version=7&region=eu-west-3&aws_access_token=tok&"+staticKeys))(t), "content@7")
	asked := last(s3.Log())
	login := asked.Get("Authorization")
	must.Contain(t, login, "Credential=id/", "Authorization")
	must.Contain(t, login, "/eu-west-3/s3/aws4_request", "Authorization")
	must.Equal(t, asked.Get("X-Amz-Security-Token"), "tok", "X-Amz-Security-Token")
}

func TestS3_SaysNothingOnStandardError(t *testing.T) {
	s3 := newS3(t)
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	must.Succeed(t, err)
	defer stderr.Close()
	before := os.Stderr
	os.Stderr = stderr
	defer func() { os.Stderr = before }()
	s := &Services{}
	_, err = read(t, s, "s3", s3.BaseURL()+"/bucket/a?"+staticKeys)
	s.Close()
	os.Stderr = before
	must.Succeed(t, err)
	must.Len(t, must.Get(os.ReadFile(stderr.Name()))(t), 0, "on standard error")
}

// clearAWS removes all settings of the machine, so that the SDK has only the test's.
func clearAWS(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "credentials"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return home
}

// wantLogin reads an object, and checks which key signed the request.
func wantLogin(t *testing.T, s *Services, s3 *providertest.Server, address, id string) {
	t.Helper()
	t.Cleanup(s.Close)
	must.Get(read(t, s, "s3", address))(t)
	must.Contain(t, last(s3.Log()).Get("Authorization"), "Credential="+id+"/", "Authorization", id)
}

func TestS3_FindsCredentialsInTheEnvironment(t *testing.T) {
	clearAWS(t)
	s3 := newS3(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	wantLogin(t, &Services{}, s3, s3.BaseURL()+"/bucket/a", "environment")
}

func TestS3_FindsCredentialsInAProfile(t *testing.T) {
	home := clearAWS(t)
	s3 := newS3(t)
	must.Write(t, filepath.Join(home, "credentials"), "[default]\naws_access_key_id = first\naws_secret_access_key = s\n"+
		"[other]\naws_access_key_id = second\naws_secret_access_key = s\n")
	at := s3.BaseURL() + "/bucket/a"
	wantLogin(t, &Services{}, s3, at, "first")
	wantLogin(t, &Services{}, s3, at+"?aws_profile=other", "second")
	t.Setenv("AWS_PROFILE", "other")
	wantLogin(t, &Services{}, s3, at, "second")
	must.Write(t, filepath.Join(home, "config"), "[profile other]\nregion = eu-north-1\n")
	wantLogin(t, &Services{}, s3, at+"?aws_profile=other&region=us-west-2", "second")
	must.Contain(t, last(s3.Log()).Get("Authorization"), "/eu-north-1/", "Authorization")
}

func TestS3_SignsInWithSSO(t *testing.T) {
	home := clearAWS(t)
	s3 := newS3(t)
	sso := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/federation/credentials" || r.Header.Get("X-Amz-Sso_bearer_token") != "signed-in" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":"sso","secretAccessKey":"s","sessionToken":"t","expiration":%d}}`, time.Now().Add(time.Hour).UnixMilli())
	})
	t.Setenv("AWS_ENDPOINT_URL_SSO", sso.BaseURL())
	must.Write(t, filepath.Join(home, "config"), "[profile work]\nsso_session = us\nsso_account_id = 1\nsso_role_name = r\nregion = us-east-1\n"+
		"[sso-session us]\nsso_region = us-east-1\nsso_start_url = https://example.com/start\n")
	must.Write(t, filepath.Join(home, ".aws/sso/cache", fmt.Sprintf("%x.json", sha1.Sum([]byte("us")))),
		`{"accessToken":"signed-in","expiresAt":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`)
	wantLogin(t, &Services{}, s3, s3.BaseURL()+"/bucket/a?aws_profile=work", "sso")
}

func TestS3_TakesARoleByWebIdentity(t *testing.T) {
	home := clearAWS(t)
	s3 := newS3(t)
	sts := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("Action") != "AssumeRoleWithWebIdentity" || r.PostFormValue("WebIdentityToken") != "identity" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>web</AccessKeyId>`+
			`<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials>`+
			`</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	must.Write(t, filepath.Join(home, "token"), "identity")
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.BaseURL())
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r")
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", filepath.Join(home, "token"))
	wantLogin(t, &Services{}, s3, s3.BaseURL()+"/bucket/a", "web")
}

// newMetadata starts the service from which an EC2 machine gets the credentials of its role.
func newMetadata(t *testing.T, id string) *providertest.Server {
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			_, _ = io.WriteString(w, "token")
		case "/latest/meta-data/iam/security-credentials/":
			_, _ = io.WriteString(w, "role")
		case "/latest/meta-data/iam/security-credentials/role":
			fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":%q,"SecretAccessKey":"s","Token":"t","Expiration":%q}`, id, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		default:
			http.NotFound(w, r)
		}
	})
}

func TestS3_TakesTheRoleOfTheMachine(t *testing.T) {
	clearAWS(t)
	s3 := newS3(t)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", newMetadata(t, "machine").BaseURL())
	wantLogin(t, &Services{}, s3, s3.BaseURL()+"/bucket/a", "machine")
}

func TestS3_TakesTheRoleThatAWSMetadataURLHas(t *testing.T) {
	clearAWS(t)
	s3 := newS3(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	s := &Services{Environ: []string{"AWS_METADATA_URL=" + newMetadata(t, "other").BaseURL()}}
	wantLogin(t, s, s3, s3.BaseURL()+"/bucket/a", "other")
}

func TestS3_AsksTheEndpointOfTheEnvironmentInPlaceOfAWS(t *testing.T) {
	clearAWS(t)
	s3 := newS3(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", strings.Replace(s3.BaseURL(), "localhost", "127.0.0.1", 1)) // a name would get the bucket's before it
	s := &Services{}
	t.Cleanup(s.Close)
	must.Equal(t, must.Get(read(t, s, "s3", "https://s3-eu-west-1.amazonaws.com/bucket/a?"+staticKeys))(t), "content")
}

// TestS3_AddressesOfOthersGetNoCredentials has addresses from a registry or a foreign module.
func TestS3_AddressesOfOthersGetNoCredentials(t *testing.T) {
	home := clearAWS(t)
	s3 := newS3(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "hunter2")
	must.Write(t, filepath.Join(home, "credentials"), "[private]\naws_access_key_id = private\naws_secret_access_key = s\n")
	must.Write(t, filepath.Join(home, "config"), "[profile theirs]\nendpoint_url = "+s3.BaseURL()+"/\n[profile other]\nendpoint_url = https://s3.example.com\n")
	const bucketOfAmazon = "https://s3-eu-west-1.amazonaws.com/bucket/a"
	byIP := strings.Replace(s3.BaseURL(), "localhost", "127.0.0.1", 1) // a name would get the bucket's before it
	for name, c := range map[string]struct {
		environ map[string]string
		address string
		id      string // of the key by which the request is signed; "": it is refused
	}{
		"an endpoint":                            {nil, s3.BaseURL() + "/bucket/a", ""},
		"an endpoint, a profile":                 {nil, s3.BaseURL() + "/bucket/a?aws_profile=private", ""},
		"an endpoint, keys of its own":           {nil, s3.BaseURL() + "/bucket/a?aws_profile=private&" + staticKeys, "id"},
		"another endpoint is the user's":         {map[string]string{"AWS_ENDPOINT_URL": "https://s3.example.com"}, s3.BaseURL() + "/bucket/a", ""},
		"another one is in the user's profile":   {map[string]string{"AWS_PROFILE": "other"}, s3.BaseURL() + "/bucket/a", ""},
		"the user's endpoint, another scheme":    {map[string]string{"AWS_ENDPOINT_URL": strings.Replace(s3.BaseURL(), "http:", "https:", 1)}, s3.BaseURL() + "/bucket/a", ""},
		"the user's endpoint is passed over":     {map[string]string{"AWS_ENDPOINT_URL": s3.BaseURL(), "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, s3.BaseURL() + "/bucket/a", ""},
		"the user's endpoint":                    {map[string]string{"AWS_ENDPOINT_URL": s3.BaseURL()}, s3.BaseURL() + "/bucket/a", "environment"},
		"the user's endpoint for S3":             {map[string]string{"AWS_ENDPOINT_URL_S3": s3.BaseURL()}, s3.BaseURL() + "/bucket/a?aws_profile=private", "environment"},
		"the endpoint of the user's profile":     {map[string]string{"AWS_PROFILE": "theirs"}, s3.BaseURL() + "/bucket/a", "environment"},
		"Amazon's, which the user has elsewhere": {map[string]string{"AWS_ENDPOINT_URL_S3": byIP}, bucketOfAmazon, "environment"},
		"Amazon's, a profile":                    {map[string]string{"AWS_ENDPOINT_URL_S3": byIP}, bucketOfAmazon + "?aws_profile=private", "environment"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range c.environ {
				t.Setenv(variable, value)
			}
			u, err := url.Parse(c.address)
			must.Succeed(t, err)
			s := &Services{}
			t.Cleanup(s.Close)
			objects, err := s.Open(t.Context(), "s3", u, false)
			must.Succeed(t, err)
			t.Cleanup(objects.Close)
			_, err = readKey(t.Context(), objects, objects.Key)
			header := last(s3.Log())
			if c.id != "" {
				must.Succeed(t, err, c.id)
				must.Contain(t, header.Get("Authorization"), "Credential="+c.id+"/", c.id)
				return
			}
			must.Contain(t, err, "no credentials were sent")
			must.Contain(t, getproviders.HintsOf(err), s3.BaseURL())
			if header.Get("Authorization") != "" || header.Get("X-Amz-Security-Token") != "" {
				t.Errorf("header: %v", header)
			}
			for _, err := range objects.Keys(t.Context()) {
				must.Contain(t, err, "no credentials were sent", "the list is refused with")
			}
		})
	}
}

package cosmos

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"armilla/conformance/server"
)

func TestClientFromConnectionString(t *testing.T) {
	transport, err := running.Transport("")
	must(t, err)
	options := &azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}}
	text := fmt.Sprintf("AccountEndpoint=%s;AccountKey=%s;", running.HTTPS, server.Key)
	client, err := azcosmos.NewClientFromConnectionString(text, options)
	must(t, err)
	defer client.Close()
	equal(t, client.Endpoint(), running.HTTPS)
	makeDatabase(t, client)
}

func TestWrongKeyIsRefused(t *testing.T) {
	transport, err := running.Transport("")
	must(t, err)
	credential, err := azcosmos.NewKeyCredential(base64.StdEncoding.EncodeToString([]byte("not the key at all, but long enough")))
	must(t, err)
	client, err := azcosmos.NewClientWithKey(running.HTTPS, credential,
		&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}})
	must(t, err)
	defer client.Close()
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "refused"}, nil)
	refused(t, err, http.StatusUnauthorized)

	// A client keeps a copy of its credential: a key that is changed is for clients that are made later.
	must(t, credential.Update(server.Key))
	later, err := azcosmos.NewClientWithKey(running.HTTPS, credential,
		&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}})
	must(t, err)
	defer later.Close()
	_, err = later.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: fresh("database")}, nil)
	must(t, err)
}

// emulatorToken is a token as the emulators take it: the key stands where a signature would be.
type emulatorToken struct{}

func (emulatorToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	now := time.Now()
	header := `{"typ":"JWT","alg":"RS256","x5t":"CosmosEmulatorPrimaryMaster","kid":"CosmosEmulatorPrimaryMaster"}`
	payload := fmt.Sprintf(`{"appid":"localhost","oid":"96313034-4739-43cb-93cd-74193adbe5b6","tid":"EmulatorFederation",
		"ver":"1.0","scp":"user_impersonation","nbf":%d,"exp":%d,"iat":%d,
		"iss":"https://sts.fake-issuer.net/7b1999a1-dfd7-440e-8204-00170979b984","aud":"https://localhost.localhost"}`,
		now.Unix(), now.Add(2*time.Hour).Unix(), now.Unix())
	parts := []string{header, payload, server.Key}
	for at, part := range parts {
		parts[at] = base64.RawURLEncoding.EncodeToString([]byte(part))
	}
	return azcore.AccessToken{Token: strings.Join(parts, "."), ExpiresOn: now.Add(2 * time.Hour)}, nil
}

func TestTokenCredential(t *testing.T) {
	database := makeDatabase(t, connect(t, nil))
	_, err := database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "c", PartitionKeyDefinition: byCity}, nil)
	must(t, err)
	container, err := database.NewContainer("c")
	must(t, err)
	stored := fill(t, container, 1)[0]
	transport, err := running.Transport("")
	must(t, err)
	client, err := azcosmos.NewClient(running.HTTPS, emulatorToken{},
		&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}})
	must(t, err)
	defer client.Close()
	same, err := client.NewContainer(database.ID(), container.ID())
	must(t, err)
	read, err := same.ReadItem(ctx, stored.key(), stored.ID, nil)
	must(t, err)
	equal(t, decode[item](t, read.Value), stored)
}

func TestClientOptions(t *testing.T) {
	low := azcosmos.PriorityLevelLow
	client := connect(t, func(options *azcosmos.ClientOptions) {
		options.EnableContentResponseOnWrite = true
		options.PreferredRegions = []string{"South Central US", "East US"}
		options.PriorityLevel = &low
	})
	database := makeDatabase(t, client)
	_, err := database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "c", PartitionKeyDefinition: byCity}, nil)
	must(t, err)
	container, err := client.NewContainer(database.ID(), "c")
	must(t, err)
	one := item{ID: "1", City: "Oslo"}
	created, err := container.CreateItem(ctx, one.key(), encode(t, one), nil)
	must(t, err)
	equal(t, decode[item](t, created.Value), one)
}

func TestDiagnostics(t *testing.T) {
	container := makeContainer(t, nil)
	read, err := container.Read(ctx, nil)
	must(t, err)
	equal(t, read.Diagnostics.FailedRequestCount(), 0)
	if read.Diagnostics.ClientElapsedTime() <= 0 || read.Diagnostics.StartTimeUTC().IsZero() {
		t.Error("a request takes time")
	}
	if !strings.Contains(read.Diagnostics.String(), container.ID()) {
		t.Error(read.Diagnostics.String())
	}
	_, err = container.ReadItem(ctx, azcosmos.NewPartitionKeyString("Oslo"), "missing", nil)
	refused(t, err, http.StatusNotFound)
	diagnostics, ok := azcosmos.DiagnosticsFromError(err)
	equal(t, ok, true)
	equal(t, diagnostics.FailedRequestCount(), 1)
}

package cosmos

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

var withContent = &azcosmos.ItemOptions{EnableContentResponseOnWrite: true}

func TestItems(t *testing.T) {
	container := makeContainer(t, nil)
	one := item{ID: "1", City: "Oslo", Number: 1}
	created, err := container.CreateItem(ctx, one.key(), encode(t, one), nil)
	must(t, err)
	equal(t, created.RawResponse.StatusCode, http.StatusCreated)
	equal(t, len(created.Value), 0, "nothing was asked for")
	if created.SessionToken == nil || created.RequestCharge <= 0 || created.ETag == "" {
		t.Errorf("%+v", created)
	}
	_, err = container.CreateItem(ctx, one.key(), encode(t, one), nil)
	refused(t, err, http.StatusConflict)

	read, err := container.ReadItem(ctx, one.key(), "1", &azcosmos.ItemOptions{
		SessionToken: created.SessionToken, ConsistencyLevel: azcosmos.ConsistencyLevelEventual.ToPtr(),
	})
	must(t, err)
	equal(t, decode[item](t, read.Value), one)
	equal(t, read.ETag, created.ETag)

	one.Number = 2
	replaced, err := container.ReplaceItem(ctx, one.key(), "1", encode(t, one), withContent)
	must(t, err)
	equal(t, decode[item](t, replaced.Value), one)
	_, err = container.ReplaceItem(ctx, one.key(), "1", encode(t, one), &azcosmos.ItemOptions{IfMatchEtag: &created.ETag})
	refused(t, err, http.StatusPreconditionFailed)
	_, err = container.ReplaceItem(ctx, one.key(), "1", encode(t, one), &azcosmos.ItemOptions{IfMatchEtag: &replaced.ETag})
	must(t, err)

	upserted, err := container.UpsertItem(ctx, one.key(), encode(t, one), withContent)
	must(t, err)
	equal(t, upserted.RawResponse.StatusCode, http.StatusOK)
	two := item{ID: "2", City: "Rome"}
	upserted, err = container.UpsertItem(ctx, two.key(), encode(t, two), nil)
	must(t, err)
	equal(t, upserted.RawResponse.StatusCode, http.StatusCreated)

	_, err = container.DeleteItem(ctx, two.key(), "2", &azcosmos.ItemOptions{IfMatchEtag: ptr(azcore.ETag(`"stale"`))})
	refused(t, err, http.StatusPreconditionFailed)
	deleted, err := container.DeleteItem(ctx, two.key(), "2", nil)
	must(t, err)
	equal(t, deleted.RawResponse.StatusCode, http.StatusNoContent)
	_, err = container.ReadItem(ctx, two.key(), "2", nil)
	refused(t, err, http.StatusNotFound)
}

func TestReplaceChangesAnID(t *testing.T) {
	container := makeContainer(t, nil)
	before, after := item{ID: "before", City: "Oslo"}, item{ID: "after", City: "Oslo"}
	_, err := container.CreateItem(ctx, before.key(), encode(t, before), nil)
	must(t, err)
	_, err = container.ReplaceItem(ctx, before.key(), before.ID, encode(t, after), nil)
	must(t, err)
	_, err = container.ReadItem(ctx, before.key(), before.ID, nil)
	refused(t, err, http.StatusNotFound)
	read, err := container.ReadItem(ctx, before.key(), after.ID, nil)
	must(t, err)
	equal(t, decode[item](t, read.Value), after)
}

func TestOptionsOfItems(t *testing.T) {
	container := makeContainer(t, nil)
	one := item{ID: "1", City: "Oslo"}
	high := azcosmos.PriorityLevelHigh
	_, err := container.CreateItem(ctx, one.key(), encode(t, one), &azcosmos.ItemOptions{
		IndexingDirective: azcosmos.IndexingDirectiveExclude.ToPtr(), PriorityLevel: &high,
	})
	must(t, err)
	_, err = container.ReadItem(ctx, one.key(), one.ID, &azcosmos.ItemOptions{
		DedicatedGatewayRequestOptions: &azcosmos.DedicatedGatewayRequestOptions{
			MaxIntegratedCacheStaleness: ptr(time.Minute), BypassIntegratedCache: true,
		},
	})
	must(t, err)
	_, err = container.CreateItem(ctx, one.key(), encode(t, item{ID: "2", City: "Oslo"}),
		&azcosmos.ItemOptions{PreTriggers: []string{"no such trigger"}})
	refused(t, err, http.StatusBadRequest)
	_, err = container.CreateItem(ctx, one.key(), encode(t, item{ID: "2", City: "Oslo"}),
		&azcosmos.ItemOptions{PostTriggers: []string{"no such trigger"}})
	refused(t, err, http.StatusBadRequest)
}

func TestPartitionKeysOfEveryKind(t *testing.T) {
	container := makeContainer(t, nil)
	for id, one := range map[string]struct {
		key    azcosmos.PartitionKey
		stored any
	}{
		"text":  {azcosmos.NewPartitionKeyString("Oslo"), "Oslo"},
		"long":  {azcosmos.NewPartitionKeyString(strings.Repeat("x", 200)), strings.Repeat("x", 200)},
		"yes":   {azcosmos.NewPartitionKeyBool(true), true},
		"no":    {azcosmos.NewPartitionKey().AppendBool(false), false},
		"float": {azcosmos.NewPartitionKeyNumber(-1.5), -1.5},
		"zero":  {azcosmos.NewPartitionKey().AppendNumber(0), 0},
		"null":  {azcosmos.NewPartitionKey().AppendNull(), nil},
	} {
		_, err := container.CreateItem(ctx, one.key, encode(t, map[string]any{"id": id, "city": one.stored}), nil)
		must(t, err)
		read, err := container.ReadItem(ctx, one.key, id, nil)
		must(t, err)
		equal(t, decode[map[string]any](t, read.Value)["id"], any(id))
		pages := drain(t, container.NewQueryItemsPager("SELECT VALUE c.id FROM c", one.key, nil))
		equal(t, decode[string](t, pages[0].Items[0]), id)
	}
	_, err := container.CreateItem(ctx, azcosmos.NewPartitionKeyString("Rome"), encode(t, item{ID: "x", City: "Oslo"}), nil)
	refused(t, err, http.StatusBadRequest)
}

func TestHierarchicalKeys(t *testing.T) {
	container := makeContainer(t, func(properties *azcosmos.ContainerProperties) {
		properties.PartitionKeyDefinition = azcosmos.PartitionKeyDefinition{
			Paths: []string{"/country", "/city"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
		}
	})
	for _, one := range []item{{"1", "Oslo", 1, "NO"}, {"2", "Bergen", 2, "NO"}, {"3", "Rome", 3, "IT"}} {
		whole := azcosmos.NewPartitionKeyString(one.Country).AppendString(one.City)
		_, err := container.CreateItem(ctx, whole, encode(t, one), nil)
		must(t, err)
		read, err := container.ReadItem(ctx, whole, one.ID, nil)
		must(t, err)
		equal(t, decode[item](t, read.Value), one)
	}
	prefix := azcosmos.NewPartitionKeyString("NO")
	pages := drain(t, container.NewQueryItemsPager("SELECT VALUE c.id FROM c", prefix, nil))
	equal(t, len(pages[0].Items), 2)
	_, err := container.ReadItem(ctx, prefix, "1", nil)
	refused(t, err, http.StatusBadRequest)
}

func TestReadMany(t *testing.T) {
	container := makeContainer(t, nil)
	var wanted []azcosmos.ItemIdentity
	for _, one := range fill(t, container, 30) {
		wanted = append(wanted, azcosmos.ItemIdentity{ID: one.ID, PartitionKey: one.key()})
	}
	wanted = append(wanted[:20], azcosmos.ItemIdentity{ID: "missing", PartitionKey: azcosmos.NewPartitionKeyString("Oslo")})
	low := azcosmos.PriorityLevelLow
	found, err := container.ReadManyItems(ctx, wanted, &azcosmos.ReadManyItemsOptions{
		ConsistencyLevel: azcosmos.ConsistencyLevelSession.ToPtr(), MaxConcurrency: ptr(int32(2)),
		PriorityLevel: &low,
	})
	must(t, err)
	equal(t, len(found.Items), 20, "what is not there is left out")
	if found.RequestCharge <= 0 {
		t.Error("reading costs")
	}
	none, err := container.ReadManyItems(ctx, nil, nil)
	must(t, err)
	equal(t, len(none.Items), 0)
}

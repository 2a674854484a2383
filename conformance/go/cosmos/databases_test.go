package cosmos

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestDatabases(t *testing.T) {
	client := connect(t, nil)
	id := fresh("database")
	created, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
	must(t, err)
	equal(t, created.RawResponse.StatusCode, http.StatusCreated)
	equal(t, created.DatabaseProperties.ID, id)
	equal(t, created.ETag, *created.DatabaseProperties.ETag)
	if created.RequestCharge <= 0 || created.ActivityID == "" || created.DatabaseProperties.LastModified.IsZero() {
		t.Errorf("%+v", created)
	}
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id}, nil)
	equal(t, refused(t, err, http.StatusConflict).ErrorCode, "409 Conflict")

	database, err := client.NewDatabase(id)
	must(t, err)
	equal(t, database.ID(), id)
	read, err := database.Read(ctx, nil)
	must(t, err)
	equal(t, read.DatabaseProperties.ResourceID, created.DatabaseProperties.ResourceID)
	equal(t, read.DatabaseProperties.SelfLink, created.DatabaseProperties.SelfLink)

	unchanged, err := database.Read(ctx, &azcosmos.ReadDatabaseOptions{IfNoneMatchEtag: &read.ETag})
	must(t, err)
	equal(t, unchanged.RawResponse.StatusCode, http.StatusNotModified)
	_, err = database.Delete(ctx, &azcosmos.DeleteDatabaseOptions{IfMatchEtag: ptr(read.ETag + "x")})
	refused(t, err, http.StatusPreconditionFailed)
	deleted, err := database.Delete(ctx, &azcosmos.DeleteDatabaseOptions{IfMatchEtag: &read.ETag})
	must(t, err)
	equal(t, deleted.RawResponse.StatusCode, http.StatusNoContent)
	_, err = database.Read(ctx, nil)
	refused(t, err, http.StatusNotFound)
}

func TestQueryOfDatabases(t *testing.T) {
	client := connect(t, nil)
	wanted := makeDatabase(t, client)
	makeDatabase(t, client)
	pages := drain(t, client.NewQueryDatabasesPager("SELECT * FROM root r WHERE r.id = @id", &azcosmos.QueryDatabasesOptions{
		QueryParameters: []azcosmos.QueryParameter{{Name: "@id", Value: wanted.ID()}},
	}))
	equal(t, len(pages), 1)
	equal(t, len(pages[0].Databases), 1)
	equal(t, pages[0].Databases[0].ID, wanted.ID())
	if all := drain(t, client.NewQueryDatabasesPager("SELECT * FROM r", nil)); len(all[0].Databases) < 2 {
		t.Error("both databases are listed")
	}
}

func TestThroughputOfADatabase(t *testing.T) {
	client := connect(t, nil)
	id := fresh("database")
	shared := azcosmos.NewManualThroughputProperties(1000)
	_, err := client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: id},
		&azcosmos.CreateDatabaseOptions{ThroughputProperties: &shared})
	must(t, err)
	database, err := client.NewDatabase(id)
	must(t, err)
	defer func() { _, _ = database.Delete(ctx, nil) }()

	read, err := database.ReadThroughput(ctx, nil)
	must(t, err)
	manual, isManual := read.ThroughputProperties.ManualThroughput()
	equal(t, isManual, true)
	equal(t, manual, 1000)
	if read.MinThroughput == nil || *read.MinThroughput != 400 {
		t.Errorf("the least is 400, not %v", read.MinThroughput)
	}
	_, isAutoscale := read.ThroughputProperties.AutoscaleMaxThroughput()
	equal(t, isAutoscale, false)

	_, err = database.ReplaceThroughput(ctx, azcosmos.NewManualThroughputProperties(1100), nil)
	must(t, err)
	again, err := database.ReadThroughput(ctx, nil)
	must(t, err)
	manual, _ = again.ThroughputProperties.ManualThroughput()
	equal(t, manual, 1100)
	equal(t, again.IsReplacePending, false)

	_, err = makeDatabase(t, client).ReadThroughput(ctx, nil)
	refused(t, err, http.StatusNotFound)
}

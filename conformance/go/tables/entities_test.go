package tables

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

func TestEntities(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		added, err := table.AddEntity(ctx, entity("ann", "1", map[string]any{"total": 41.5, "note": "a"}), nil)
		must(t, err)
		if added.ETag == "" {
			t.Error("an entity has an etag")
		}
		_, err = table.AddEntity(ctx, entity("ann", "1", nil), nil)
		refused(t, err, http.StatusConflict, aztables.EntityAlreadyExists)

		read, err := table.GetEntity(ctx, "ann", "1", nil)
		must(t, err)
		equal(t, read.ETag, added.ETag)
		found := decode(t, read.Value)
		equal(t, found.Properties["total"], any(41.5))
		if time.Since(time.Time(found.Timestamp)).Abs() > time.Hour {
			t.Error(found.Timestamp)
		}

		merged, err := table.UpdateEntity(ctx, entity("ann", "1", map[string]any{"paid": true}),
			&aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge, IfMatch: &read.ETag})
		must(t, err)
		_, err = table.UpdateEntity(ctx, entity("ann", "1", nil),
			&aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge, IfMatch: &read.ETag})
		refused(t, err, http.StatusPreconditionFailed, aztables.UpdateConditionNotSatisfied)
		equal(t, len(decode(t, get(t, table, "1")).Properties), 3)

		_, err = table.UpdateEntity(ctx, entity("ann", "1", map[string]any{"only": "this"}),
			&aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace, IfMatch: &merged.ETag})
		must(t, err)
		equal(t, len(decode(t, get(t, table, "1")).Properties), 1)

		for _, mode := range []aztables.UpdateMode{aztables.UpdateModeMerge, aztables.UpdateModeReplace} {
			for range 2 {
				_, err = table.UpsertEntity(ctx, entity("ann", string(mode), map[string]any{"n": 1}),
					&aztables.UpsertEntityOptions{UpdateMode: mode})
				must(t, err)
			}
		}
		_, err = table.UpdateEntity(ctx, entity("ann", "missing", nil), nil)
		refused(t, err, http.StatusNotFound, aztables.ResourceNotFound)

		_, err = table.DeleteEntity(ctx, "ann", "1", &aztables.DeleteEntityOptions{IfMatch: ptr(azcore.ETag(`W/"stale"`))})
		if err == nil {
			t.Error("a stale etag is refused")
		}
		_, err = table.DeleteEntity(ctx, "ann", "1", nil)
		must(t, err)
		_, err = table.GetEntity(ctx, "ann", "1", nil)
		refused(t, err, http.StatusNotFound, aztables.ResourceNotFound)
	})
}

func get(t *testing.T, table *aztables.Client, row string) []byte {
	t.Helper()
	read, err := table.GetEntity(ctx, "ann", row, nil)
	must(t, err)
	return read.Value
}

func TestValuesOfEveryType(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		stored := map[string]any{
			"Boolean":  true,
			"Int32":    int32(-7),
			"Int64":    aztables.EDMInt64(math.MaxInt64),
			"Double":   1.25,
			"String":   "Grüße, 世界 🚀 'quoted'",
			"GUID":     aztables.EDMGUID("4185404a-5818-48c3-b9be-f217df0dba6f"),
			"DateTime": aztables.EDMDateTime(time.Date(2026, 1, 2, 3, 4, 5, 678_901_200, time.UTC)),
			"Binary":   aztables.EDMBinary{0, 1, 254, 255},
		}
		for _, format := range []aztables.MetadataFormat{aztables.MetadataFormatFull, aztables.MetadataFormatMinimal} {
			_, err := table.AddEntity(ctx, entity("ann", string(format[30:]), stored), &aztables.AddEntityOptions{Format: &format})
			must(t, err)
			read, err := table.GetEntity(ctx, "ann", string(format[30:]), &aztables.GetEntityOptions{Format: ptr(aztables.MetadataFormatFull)})
			must(t, err)
			found := decode(t, read.Value)
			for name, value := range stored {
				if !reflect.DeepEqual(found.Properties[name], value) {
					t.Errorf("%s: %v (%T) instead of %v", name, found.Properties[name], found.Properties[name], value)
				}
			}
		}
		bare, err := table.GetEntity(ctx, "ann", string(aztables.MetadataFormatMinimal[30:]),
			&aztables.GetEntityOptions{Format: ptr(aztables.MetadataFormatNone)})
		must(t, err)
		if strings.Contains(string(bare.Value), "odata") {
			t.Errorf("no metadata were asked for: %s", bare.Value)
		}
	})
}

func TestKeysWithQuotesAndOtherLetters(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		for _, key := range []string{"it's", "''", "世界", "a b", "50%", "x+y", "(a)=b", "{}", "a,b;c:d@e&f"} {
			// Not an EDMEntity: that one doubles the quotes in the body as well, and names another entity.
			text, err := json.Marshal(map[string]string{"PartitionKey": key, "RowKey": key})
			must(t, err)
			_, err = table.AddEntity(ctx, text, nil)
			must(t, err)
			read, err := table.GetEntity(ctx, key, key, nil)
			must(t, err)
			equal(t, decode(t, read.Value).RowKey, key)
			_, err = table.DeleteEntity(ctx, key, key, nil)
			must(t, err)
		}
	})
}

func TestQueries(t *testing.T) {
	eachDoor(t, func(t *testing.T, d door) {
		table := makeTable(t, d)
		for number := range 25 {
			_, err := table.AddEntity(ctx, entity("ann", fmt.Sprintf("%02d", number), map[string]any{
				"n": int32(number), "even": number%2 == 0, "name": fmt.Sprint("it's ", number),
			}), nil)
			must(t, err)
		}
		equal(t, fmt.Sprint(rows(t, table, &aztables.ListEntitiesOptions{Filter: ptr("n ge 20 and even eq true")})), "[20 22 24]")
		equal(t, fmt.Sprint(rows(t, table, &aztables.ListEntitiesOptions{Filter: ptr("name eq 'it''s 7'")})), "[07]")
		equal(t, fmt.Sprint(rows(t, table, &aztables.ListEntitiesOptions{Filter: ptr("PartitionKey eq 'ann' and RowKey lt '02'")})), "[00 01]")

		pages := drain(t, table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
			Top: ptr(int32(10)), Select: ptr("RowKey,n"), Format: ptr(aztables.MetadataFormatMinimal),
		}))
		equal(t, len(pages), 3)
		equal(t, len(decode(t, pages[0].Entities[0]).Properties), 1)
		// Another client goes on from there.
		rest := drain(t, table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
			NextPartitionKey: pages[1].NextPartitionKey, NextRowKey: pages[1].NextRowKey,
		}))
		equal(t, len(rest[0].Entities), 5)

		_, err := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: ptr("n is 1")}).NextPage(ctx)
		refused(t, err, http.StatusBadRequest, "")
	})
}

package cosmos

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// everywhere is how the SDK writes a query over all partitions.
var everywhere = azcosmos.NewPartitionKey()

func TestQueryOfOnePartition(t *testing.T) {
	container := makeContainer(t, nil)
	fill(t, container, 30)
	low := azcosmos.PriorityLevelLow
	pages := drain(t, container.NewQueryItemsPager("SELECT * FROM c WHERE c.number >= @least ORDER BY c.number DESC",
		azcosmos.NewPartitionKeyString("Oslo"), &azcosmos.QueryOptions{
			PageSizeHint:         4,
			QueryParameters:      []azcosmos.QueryParameter{{Name: "@least", Value: 3}},
			PopulateIndexMetrics: true,
			EnableScanInQuery:    true,
			ConsistencyLevel:     azcosmos.ConsistencyLevelSession.ToPtr(),
			PriorityLevel:        &low,
			DedicatedGatewayRequestOptions: &azcosmos.DedicatedGatewayRequestOptions{
				MaxIntegratedCacheStaleness: ptr(time.Minute),
			},
			ResponseContinuationTokenLimitInKB: 1,
		}))
	equal(t, len(pages), 3, "nine items, four to a page")
	var numbers []float64
	for _, page := range pages {
		if page.RequestCharge <= 0 || page.ActivityID == "" || page.QueryMetrics == nil || page.IndexMetrics == nil {
			t.Errorf("charge %v, metrics %v, of the index %v", page.RequestCharge, page.QueryMetrics, page.IndexMetrics)
		}
		for _, found := range page.Items {
			numbers = append(numbers, decode[item](t, found).Number)
		}
	}
	equal(t, len(numbers), 9)
	equal(t, numbers[0], 27.0)
	equal(t, numbers[8], 3.0)
	if !strings.Contains(*pages[0].QueryMetrics, "totalExecutionTimeInMs=") {
		t.Error(*pages[0].QueryMetrics)
	}
}

func TestContinuationOfAQuery(t *testing.T) {
	container := makeContainer(t, nil)
	fill(t, container, 10)
	first := container.NewQueryItemsPager("SELECT VALUE c.number FROM c", everywhere, &azcosmos.QueryOptions{PageSizeHint: 6})
	page, err := first.NextPage(ctx)
	must(t, err)
	equal(t, len(page.Items), 6)
	// Another client goes on with it.
	rest := drain(t, container.NewQueryItemsPager("SELECT VALUE c.number FROM c", everywhere,
		&azcosmos.QueryOptions{ContinuationToken: page.ContinuationToken}))
	seen := map[float64]bool{}
	for _, found := range append(page.Items, rest[0].Items...) {
		seen[decode[float64](t, found)] = true
	}
	equal(t, len(seen), 10)
}

func TestAFullLastPageHasAContinuation(t *testing.T) {
	container := makeContainer(t, nil)
	fill(t, container, 6)
	pages := drain(t, container.NewQueryItemsPager("SELECT * FROM c", everywhere, &azcosmos.QueryOptions{PageSizeHint: 3}))
	if len(pages) != 3 {
		t.Fatalf("%d pages; whether anything is left the service finds out by asking again", len(pages))
	}
	equal(t, len(pages[2].Items), 0)
}

func TestQueryOfAllPartitions(t *testing.T) {
	database := makeDatabase(t, connect(t, nil))
	wide := azcosmos.NewManualThroughputProperties(24_000)
	_, err := database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "wide", PartitionKeyDefinition: byCity},
		&azcosmos.CreateContainerOptions{ThroughputProperties: &wide})
	must(t, err)
	container, err := database.NewContainer("wide")
	must(t, err)
	stored := fill(t, container, 30)
	var found int
	for _, page := range drain(t, container.NewQueryItemsPager("SELECT * FROM c WHERE c.number < 20", everywhere, nil)) {
		found += len(page.Items)
	}
	equal(t, found, 20)
	equal(t, len(stored), 30)

	refusal := false
	pager := container.NewQueryItemsPager("SELECT * FROM c", everywhere,
		&azcosmos.QueryOptions{EnableCrossPartitionQuery: &refusal})
	_, err = pager.NextPage(ctx)
	refused(t, err, http.StatusBadRequest)
}

func TestWrongQuery(t *testing.T) {
	container := makeContainer(t, nil)
	_, err := container.NewQueryItemsPager("SELECT * FORM c", everywhere, nil).NextPage(ctx)
	if said := refused(t, err, http.StatusBadRequest); !strings.Contains(said.Error(), "SC1001") {
		t.Error(said)
	}
}

package cosmos

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// changes reads a feed to its end; returns how often each item was seen, and the position behind.
func changes(t *testing.T, container *azcosmos.ContainerClient, options azcosmos.ChangeFeedOptions) (map[string]int, string) {
	t.Helper()
	seen := map[string]int{}
	quiet := 0
	for {
		page, err := container.ReadChangeFeed(ctx, &options)
		must(t, err)
		equal(t, page.Count, len(page.Items))
		token, err := page.GetCompositeContinuationToken()
		must(t, err)
		for _, found := range page.Items {
			seen[decode[item](t, found).ID]++
		}
		options = azcosmos.ChangeFeedOptions{Continuation: &token, MaxItemCount: options.MaxItemCount}
		// Every range of the feed has its turn before all is known to be read.
		if quiet++; page.RawResponse.StatusCode != http.StatusNotModified {
			quiet = 0
		}
		if quiet > 8 {
			return seen, token
		}
	}
}

func TestChangeFeedOfFeedRanges(t *testing.T) {
	container := makeContainer(t, nil)
	fill(t, container, 12)
	ranges, err := container.ReadFeedRanges(ctx, nil)
	must(t, err)
	total := 0
	for _, one := range ranges {
		seen, _ := changes(t, container, azcosmos.ChangeFeedOptions{FeedRange: &one, MaxItemCount: 5})
		total += len(seen)
	}
	equal(t, total, 12)
}

func TestChangeFeedGoesOn(t *testing.T) {
	container := makeContainer(t, nil)
	fill(t, container, 4)
	ranges, err := container.ReadFeedRanges(ctx, &azcosmos.FeedRangesOptions{})
	must(t, err)
	_, token := changes(t, container, azcosmos.ChangeFeedOptions{FeedRange: &ranges[0]})
	late := item{ID: "late", City: "Oslo"}
	_, err = container.CreateItem(ctx, late.key(), encode(t, late), nil)
	must(t, err)
	seen, _ := changes(t, container, azcosmos.ChangeFeedOptions{Continuation: &token})
	equal(t, fmt.Sprint(seen), "map[late:1]")
}

func TestChangeFeedOfAKey(t *testing.T) {
	container := makeContainer(t, nil)
	fill(t, container, 9)
	oslo := azcosmos.NewPartitionKeyString("Oslo")
	high := azcosmos.PriorityLevelHigh
	// The SDK wants a range even where a key is given.
	ranges, err := container.ReadFeedRanges(ctx, nil)
	must(t, err)
	page, err := container.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{
		PartitionKey: &oslo, FeedRange: &ranges[0], PriorityLevel: &high,
	})
	must(t, err)
	equal(t, page.Count, 3)
	if page.ResourceID == "" || page.GetContinuation() == "" {
		t.Errorf("%+v", page)
	}
}

func TestChangeFeedFromATime(t *testing.T) {
	container := makeContainer(t, nil)
	fill(t, container, 3)
	// The service counts in whole seconds.
	time.Sleep(1100 * time.Millisecond)
	start := time.Now().UTC()
	time.Sleep(1100 * time.Millisecond)
	late := item{ID: "late", City: "Oslo"}
	_, err := container.CreateItem(ctx, late.key(), encode(t, late), nil)
	must(t, err)
	ranges, err := container.ReadFeedRanges(ctx, nil)
	must(t, err)
	page, err := container.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{FeedRange: &ranges[0], StartFrom: &start})
	must(t, err)
	equal(t, page.Count, 1)
	least, most, ok := page.GetContinuationRange()
	equal(t, ok, true)
	equal(t, least, ranges[0].MinInclusive)
	equal(t, most, ranges[0].MaxExclusive)
}

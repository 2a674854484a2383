package cosmos

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Every operation can name the bucket that it draws from.
func TestThroughputBuckets(t *testing.T) {
	bucket := ptr(int32(2))
	client := connect(t, func(options *azcosmos.ClientOptions) { options.ThroughputBucket = ptr(int32(1)) })
	database := makeDatabase(t, client)
	_, err := database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "c", PartitionKeyDefinition: byCity}, nil)
	must(t, err)
	container, err := database.NewContainer("c")
	must(t, err)
	one := item{ID: "1", City: "Oslo"}
	_, err = container.CreateItem(ctx, one.key(), encode(t, one), nil)
	must(t, err)
	_, err = container.ReadItem(ctx, one.key(), one.ID, &azcosmos.ItemOptions{ThroughputBucket: bucket})
	must(t, err)
	drain(t, container.NewQueryItemsPager("SELECT * FROM c", one.key(), &azcosmos.QueryOptions{ThroughputBucket: bucket}))
	batch := container.NewTransactionalBatch(one.key())
	batch.ReadItem(one.ID, nil)
	_, err = container.ExecuteTransactionalBatch(ctx, batch, &azcosmos.TransactionalBatchOptions{ThroughputBucket: bucket})
	must(t, err)
	_, err = container.ReadManyItems(ctx, []azcosmos.ItemIdentity{{ID: one.ID, PartitionKey: one.key()}},
		&azcosmos.ReadManyItemsOptions{ThroughputBucket: bucket})
	must(t, err)
	ranges, err := container.ReadFeedRanges(ctx, nil)
	must(t, err)
	_, err = container.ReadChangeFeed(ctx, &azcosmos.ChangeFeedOptions{FeedRange: &ranges[0], ThroughputBucket: bucket})
	must(t, err)
}

module armilla/conformance

go 1.25.0

require (
	github.com/Azure/azure-sdk-for-go/sdk/azcore v1.21.0
	github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos v1.5.0
	github.com/Azure/azure-sdk-for-go/sdk/data/aztables v1.4.1
)

require (
	github.com/Azure/azure-sdk-for-go/sdk/internal v1.11.2 // indirect
	go.mongodb.org/mongo-driver/v2 v2.9.2 // indirect
	golang.org/x/net v0.52.0 // indirect
	golang.org/x/text v0.39.0 // indirect
)

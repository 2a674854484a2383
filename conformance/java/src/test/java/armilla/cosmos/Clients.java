package armilla.cosmos;

import armilla.Server;
import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;

/** The clients that all tests share, in gateway mode. */
public final class Clients {
    private static CosmosClient client;
    private static CosmosAsyncClient asyncClient;

    private Clients() {}

    /** What every client is built from. */
    public static CosmosClientBuilder builder() {
        return new CosmosClientBuilder()
                .endpoint(Server.shared().https())
                .key(Server.KEY)
                .gatewayMode()
                .contentResponseOnWriteEnabled(true);
    }

    /** The blocking client. */
    public static synchronized CosmosClient client() {
        if (client == null) {
            client = builder().buildClient();
        }
        return client;
    }

    /** The reactive client, for what the blocking one lacks. */
    public static synchronized CosmosAsyncClient asyncClient() {
        if (asyncClient == null) {
            asyncClient = builder().buildAsyncClient();
        }
        return asyncClient;
    }

    /** Closes both; they have threads that outlive tests. */
    public static synchronized void close() {
        if (client != null) {
            client.close();
        }
        if (asyncClient != null) {
            asyncClient.close();
        }
    }
}

package armilla.spring.hierarchical;

import armilla.cosmos.Clients;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.spring.data.cosmos.config.AbstractCosmosConfiguration;
import com.azure.spring.data.cosmos.repository.config.EnableCosmosRepositories;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
@EnableCosmosRepositories
public class Application extends AbstractCosmosConfiguration {
    @Bean
    public CosmosClientBuilder clientBuilder() {
        return Clients.builder();
    }

    @Override
    protected String getDatabaseName() {
        return "spring-hierarchical";
    }
}

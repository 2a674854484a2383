package armilla.spring;

import armilla.cosmos.Clients;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.spring.data.cosmos.config.AbstractCosmosConfiguration;
import com.azure.spring.data.cosmos.repository.config.EnableCosmosRepositories;
import com.azure.spring.data.cosmos.repository.config.EnableReactiveCosmosRepositories;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;

@Configuration
@EnableCosmosRepositories(excludeFilters = @Filter(type = FilterType.REGEX, pattern = ".*hierarchical.*"))
@EnableReactiveCosmosRepositories
public class Application extends AbstractCosmosConfiguration {
    @Bean
    public CosmosClientBuilder clientBuilder() {
        return Clients.builder();
    }

    @Override
    protected String getDatabaseName() {
        return "spring";
    }
}

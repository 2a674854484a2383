//! Databases and containers: made with every policy, changed with a look at what will happen, deleted with care.

import { expect, expectAccessible, setTheme, shoot, test } from './support/fixture';

test('a database with shared throughput, and a container that shares it', async ({ page, account }) => {
  const name = account.name();
  await page.goto(account.url());
  await page.getByRole('link', { name: 'New database' }).or(page.getByRole('button', { name: 'New database' })).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await page.getByLabel('Manual').check();
  await page.getByLabel('Request units per second').fill('350');
  await expect(page.getByText('At least 400, in steps of 100.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create database' })).toBeDisabled();
  await page.getByLabel('Request units per second').fill('800');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Create database' }).click();
  await expect(page.getByRole('heading', { name })).toBeVisible();
  await expect(page.getByText('800 RU/s shared')).toBeVisible();

  await page.getByRole('button', { name: 'New container' }).click();
  await expect(page.getByLabel('Shared')).toBeChecked();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('c');
  await page.getByLabel('Partition key path').fill('pk');
  await page.getByRole('button', { name: 'Create container' }).click();
  await expect(page.getByText('This container has no items yet')).toBeVisible();
  const made = (await account.ask('GET', `/dbs/${name}/colls/c`)).json<{ partitionKey: { paths: string[] } }>();
  expect(made.partitionKey.paths).toEqual(['/pk']);
});

test('a container with every policy', async ({ page, account }) => {
  const database = await account.database();
  await page.goto(account.url(`#/db/${database}/new-container`));
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('everything');
  await page.getByLabel('Partition key path').fill('/tenant');
  await page.getByRole('button', { name: 'Add a level' }).click();
  await page.getByLabel('Partition key, level 2').fill('/user');
  await page.getByLabel('Autoscale').check();
  await page.getByLabel('Most request units per second').fill('2000');
  await page.getByRole('button', { name: 'Add a unique key' }).click();
  await page.getByLabel('Paths of unique key 1').fill('/email, /name');
  await page.getByRole('button', { name: 'Add a composite index' }).click();
  await page.getByLabel('Composite index 1, path 1').fill('/a');
  await page.getByLabel('Composite index 1, path 2').fill('/b');
  await page.getByLabel('Composite index 1, order of path 2').selectOption('descending');
  await page.getByLabel('For all items').check();
  await page.getByLabel('Seconds after the last write').fill('3600');
  await expect(page.getByText('That is 1 h 0 min.')).toBeVisible();
  await page.getByLabel('The change feed keeps all versions').check();
  await page.getByLabel('Minutes for which').fill('10');
  await shoot(page, 'new-container');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Create container' }).click();
  await expect(page.getByText('This container has no items yet')).toBeVisible();

  const made = (await account.ask('GET', `/dbs/${database}/colls/everything`)).json();
  expect(made).toMatchObject({
    partitionKey: { paths: ['/tenant', '/user'], kind: 'MultiHash' },
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/email', '/name'] }] },
    indexingPolicy: {
      compositeIndexes: [
        [
          { path: '/a', order: 'ascending' },
          { path: '/b', order: 'descending' },
        ],
      ],
    },
    defaultTtl: 3600,
    changeFeedPolicy: { retentionDuration: 10 },
  });
});

test('what the server refuses is shown whole, and nothing typed is lost', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'taken');
  await page.goto(account.url(`#/db/${database}/new-container`));
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('taken');
  await page.getByLabel('Partition key path').fill('/pk');
  await page.getByRole('button', { name: 'Create container' }).click();
  const problem = page.getByRole('alert');
  await expect(problem).toContainText('409');
  await expect(problem).toContainText('Conflict');
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('taken');
});

test('settings say what will happen before they are saved', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.items(database, 'c', Array.from({ length: 5 }, (_, n) => ({ id: `i-${n}`, pk: 'a', n })));
  await page.goto(account.url(`#/db/${database}/c/c/settings`));
  await expect(page.getByText('What will happen')).toHaveCount(0);
  await page.getByRole('button', { name: 'Add a path' }).nth(1).click();
  await page.getByLabel('Excluded paths, 2').fill('/n/*');
  await page.getByLabel('For all items').check();
  const preview = page.getByRole('region', { name: 'What will happen' });
  await expect(preview).toContainText('Comes: excluded path /n/*');
  await expect(preview).toContainText('5 items are looked at again');
  await expect(preview).toContainText('are gone at once');
  await preview.getByRole('button', { name: 'Count the items' }).click();
  await expect(preview).toContainText('0 items would be gone at once');
  await shoot(page, 'settings');
  await expectAccessible(page);
  await setTheme(page, 'dark');
  await expectAccessible(page);

  // Leaving would lose it: the reader is asked.
  await page.getByRole('link', { name: 'Items', exact: true }).click();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await expect(question).toBeVisible();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(page).toHaveURL(/settings/);

  await preview.getByRole('button', { name: 'Save settings' }).click();
  await expect(page.getByText('The settings are saved.')).toBeVisible();
  await expect(preview).toHaveCount(0);
  const made = (await account.ask('GET', `/dbs/${database}/colls/c`)).json();
  expect(made).toMatchObject({ defaultTtl: 86400, indexingPolicy: { excludedPaths: [{ path: '/"_etag"/?' }, { path: '/n/*' }] } });
});

test('an address of the settings adds the index that it names', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  const paths = [{ path: '/a', order: 'ascending' }, { path: '/b', order: 'descending' }];
  const place = (rest: string) => account.url(`#/db/${database}/c/c/settings/${rest}`);
  await page.goto(place(`composite-index/${encodeURIComponent(JSON.stringify(paths))}`));
  const preview = page.getByRole('region', { name: 'What will happen' });
  await expect(preview).toContainText('Comes: composite index /a ↑, /b ↓');
  await preview.getByRole('button', { name: 'Save settings' }).click();
  await expect(page.getByText('The settings are saved.')).toBeVisible();
  await expect(preview).toHaveCount(0);
  const made = (await account.ask('GET', `/dbs/${database}/colls/c`)).json();
  expect(made).toMatchObject({ indexingPolicy: { compositeIndexes: [paths] } });

  await page.goto(place(`included-path/${encodeURIComponent('/n/?')}`));
  await expect(preview).toContainText('Comes: included path /n/?');
  await preview.getByRole('button', { name: 'Revert' }).click();
  await expect(preview).toHaveCount(0);
  // What names no index changes nothing.
  await page.goto(place(`composite-index/${encodeURIComponent('[null]')}`));
  await expect(page.getByRole('heading', { name: 'Indexing policy' })).toBeVisible();
  await expect(preview).toHaveCount(0);
});

test('a container with items is deleted when its name is typed', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.item(database, 'c', ['a'], { id: 'one', pk: 'a' });
  await page.goto(account.url(`#/db/${database}`));
  await expect(page.getByRole('cell', { name: '10,000 RU/s' })).toBeVisible();
  await shoot(page, 'database');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Delete c', exact: true }).click();
  const question = page.getByRole('dialog');
  await expect(question.getByRole('button', { name: 'Delete container' })).toBeDisabled();
  await question.getByRole('textbox').fill('c');
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Delete container' }).click();
  await expect(page.getByText('This database has no containers')).toBeVisible();
  await page.getByRole('button', { name: 'Delete database' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete database' }).click();
  await expect(page.getByRole('heading', { name: 'Account', exact: true })).toBeVisible();
  expect((await account.ask('GET', `/dbs/${database}`)).status).toBe(404);
});

//! Advice on a data model: asked for, told, applied, and tried.

import { optionOf, parseOption } from '../src/api/alterations';
import { word } from '../src/views/advice/words';
import { isSameShape } from '../src/views/query/shape';
import { openQuery, write } from './query-data';
import { Account, expect, expectAccessible, setTheme, shoot, startAccount, test, type Page } from './support/fixture';

const HOSTILE = '<img src=x onerror="alert(1)">';

/** So many partitions that a query over all of them is dear. */
const THROUGHPUT = 40_000;

/** Looks take seconds, the more so while other tests run. */
const LOOK = { timeout: 45_000 };

test.setTimeout(120_000);

let place: { database: string; container: string };

test.beforeAll(async ({ account }) => {
  const database = await account.database(account.name('advice'));
  await account.container(database, 'posts', ['/pk'], {}, THROUGHPUT);
  const items = Array.from({ length: 300 }, (_, n) => ({
    id: `p${n}`,
    pk: `k${n}`,
    type: n % 3 === 0 ? 'comment' : 'post',
    userId: `user-${n % 20}`,
    title: `The post with the number ${n}`,
    date: `2026-01-${String((n % 28) + 1).padStart(2, '0')}T00:00:00.0000000Z`,
  }));
  await account.items(database, 'posts', items);
  place = { database, container: 'posts' };
});

const view = (account: Account) => account.url(`#/db/${place.database}/c/posts/advice`);

/** Begins a new record, in which one query is dear: it asks every partition for the posts of one user. */
async function use(account: Account): Promise<void> {
  const forgotten = await account.ask('DELETE', '/_armilla/requests');
  expect(forgotten.status).toBe(200);
  for (let n = 0; n < 40; n += 1) {
    await account.query(place.database, 'posts', `SELECT * FROM c WHERE c.userId = 'user-${n % 20}' AND c.type = 'post'`);
  }
}

/** A finding as the server tells it, about the container of this file. */
function finding(more: object): object {
  const container = `${place.database}/posts`;
  const plain = { rule: 'order-without-composite', severity: 'warning', container, title: 'A query filters by one path and orders by another' };
  return { ...plain, evidence: [], advice: 'Make an index.', try: [], confidence: 0.9, page: 'docs/modelling/indexing.md', ...more };
}

/** Answers a look with findings that are given. */
async function tell(page: Page, findings: object[], more: object = {}): Promise<void> {
  const container = { container: `${place.database}/posts`, items: 300, bytes: 90_000, sampled: 300, partitions: 7, chargePerSecond: 12 };
  const advice = { seconds: 60, chargePerSecond: 12.5, containers: [container], findings, stages: [], ...more };
  await page.route('**/_armilla/advice', (route) => route.fulfill({ json: advice }));
}

const look = (page: Page) => page.getByRole('button', { name: 'Look', exact: true });

test('nothing is asked before the button, and then findings are told with what they cost', async ({ page, account }) => {
  await use(account);
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/_armilla/advice')) asked += 1;
  });
  await page.goto(view(account));
  await expect(page.getByText('it begins when you press the button')).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Views of the container' }).getByRole('link').last()).toHaveText('Advice');
  await page.waitForTimeout(500);
  expect(asked).toBe(0);
  await look(page).click();

  const found = page.locator('.advice-finding').filter({ hasText: 'physical partitions' }).first();
  await expect(found).toBeVisible(LOOK);
  expect(asked).toBe(1);
  await expect(page.getByRole('region', { name: 'What was looked at' })).toContainText('300');
  await expect(found.locator('.advice-severity')).toHaveText(/Severe|Warning/);
  if ((await found.getAttribute('open')) === null) await found.locator('summary').first().click();
  await expect(found).toContainText(/RU\/s less, measured on a copy/);
  const row = found.getByRole('row', { name: /userId = @1/ });
  const [today, then] = await row.locator('td.number').evaluateAll((cells) => cells.slice(-2).map((cell) => Number(cell.textContent)));
  expect(then).toBeLessThan(today ?? 0);
  await expect(found).toContainText(/armilla advise[^]*--try-copy/);
  await found.getByText('How it is done: copies under another key').click();
  await expect(found).toContainText(`armilla feed ${place.database} posts --once`);
  await expect(found).toContainText('--create /userId');
  await expect(page.getByRole('region', { name: 'All of it', exact: true })).toContainText(/RU\/s/);
  await expectAccessible(page);
  await setTheme(page, 'dark');
  await expectAccessible(page);
  await setTheme(page, 'light');
  await shoot(page, 'advice');
  await page.setViewportSize({ width: 400, height: 800 });
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });

  // It is still there after a look at another view.
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await expect(page.getByLabel('For all items')).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('button', { name: 'Look again' })).toBeVisible();
  await expect(found).toBeVisible();
  expect(asked).toBe(1);
});

test('where nothing was asked yet, it says that advice comes from use', async ({ page, account }) => {
  await use(account);
  await page.goto(view(account));
  await page.getByRole('button', { name: 'Forget the record…' }).click();
  await page.getByRole('dialog', { name: 'Forget what was asked?' }).getByRole('button', { name: 'Forget the record' }).click();
  await expect(page.getByText('The record is forgotten')).toBeVisible();
  await look(page).click();
  await expect(page.getByRole('region', { name: 'No requests yet' })).toContainText('Advice comes from use', LOOK);
});

test('an indexing policy is applied after a look at what it changes, and another on top of it', async ({ page, account }) => {
  await account.container(place.database, 'applied');
  const path = `/dbs/${place.database}/colls/applied`;
  const before = (await account.ask('GET', path)).json<{ indexingPolicy: Record<string, unknown> & { excludedPaths: object[] } }>().indexingPolicy;
  const composite = [{ path: '/type', order: 'ascending' }, { path: '/date', order: 'descending' }];
  const container = `${place.database}/applied`;
  await tell(page, [
    finding({ container, title: HOSTILE, evidence: [HOSTILE], but: HOSTILE, indexingPolicy: { ...before, compositeIndexes: [composite] } }),
    finding({ container, title: 'Not used', indexingPolicy: { ...before, excludedPaths: [...before.excludedPaths, { path: '/title/?' }] } }),
  ]);
  await page.goto(account.url(`#/db/${place.database}/c/applied/advice`));
  await look(page).click();
  const first = page.locator('.advice-finding').first();
  await expect(first.getByRole('heading', { name: HOSTILE })).toBeVisible();
  await first.getByRole('button', { name: 'Apply…' }).click();
  const question = page.getByRole('dialog', { name: 'Change the indexing policy of applied?' });
  await expect(question).toContainText('Comes: composite index /type ↑, /date ↓');
  await expect(question).not.toContainText('Goes:');
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Apply the policy' }).click();
  await expect(first.getByText('The policy of applied is applied.')).toBeVisible();
  await expect(first.getByText(/Its index (follows|is being)|The index (follows|is being)/)).toBeVisible();

  // The second policy was made from the first one's beginning, and takes nothing back.
  const second = page.locator('.advice-finding').nth(1);
  await second.locator('summary').first().click();
  await second.getByRole('button', { name: 'Apply…' }).click();
  await expect(question).toContainText('Comes: excluded path /title/?');
  await expect(question).not.toContainText('Goes:');

  // Another writes it meanwhile: the server refuses, and the page reads again.
  const now = (await account.ask('GET', path)).json();
  await account.ask('PUT', path, { ...now, defaultTtl: 1_000 });
  await question.getByRole('button', { name: 'Apply the policy' }).click();
  await expect(question.getByRole('alert')).toContainText('412');
  await question.getByRole('button', { name: 'Read it again' }).click();
  await question.getByRole('button', { name: 'Apply the policy' }).click();
  await expect(second.getByText('The policy of applied is applied.')).toBeVisible();
  const after = (await account.ask('GET', path)).json();
  expect(after).toMatchObject({ defaultTtl: 1_000, indexingPolicy: { compositeIndexes: [composite] } });
  expect(JSON.stringify(after)).toContain('/title/?');
});

test('a change that the reader thinks of is measured, and what cannot be tried is told', async ({ page, account }) => {
  await use(account);
  await page.goto(view(account));
  const form = page.getByRole('form', { name: 'A change to try' });
  const run = form.getByRole('button', { name: 'Try it' });
  await expect(run).toBeDisabled();
  await form.getByLabel('Paths of the key').fill('userId');
  await run.click();
  const problem = page.getByRole('alert');
  await expect(problem).toContainText('paths begin with a slash', LOOK);
  await expect(problem).toContainText('400');

  await form.getByLabel('Paths of the key').fill('/userId');
  await form.getByLabel('Paths of the key').press('Enter');
  const outcome = page.getByRole('group', { name: 'What it would come to' });
  await expect(outcome).toContainText(/RU\/s less, measured/, LOOK);
  await expect(problem).toHaveCount(0);
  await expect(outcome.getByRole('row', { name: /userId = @1/ })).toBeVisible();
  await expect(outcome).toContainText(`--try-key ${place.database}/posts:/userId`);
  await outcome.getByText('How it is done: another partition key').click();
  await expect(outcome.getByRole('link', { name: `New container in ${place.database}` })).toBeVisible();
  await expectAccessible(page);

  // Every kind has its fields, each with a label.
  for (const [kind, label] of [['composite', 'Paths of the index'], ['embed', 'Reference'], ['count', 'Member with the count'], ['copy', 'Key of the copies']] as const) {
    await form.getByLabel('What changes').selectOption(kind);
    await expect(form.getByLabel(label)).toBeVisible();
  }
  await expectAccessible(page);
});

test('a look is cancelled, and a server that is busy says so', async ({ page, account }) => {
  await page.route('**/_armilla/advice', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await route.abort().catch(() => undefined);
  });
  await page.goto(view(account));
  await look(page).click();
  await expect(page.getByText('The server is looking')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('Cancelled.')).toBeVisible();
  await page.unroute('**/_armilla/advice');
  const message = 'advice is being made for another caller; it takes seconds: ask again';
  await page.route('**/_armilla/advice', (route) => route.fulfill({ status: 409, json: { code: 'Conflict', message } }));
  await look(page).click();
  await expect(page.getByRole('alert')).toContainText(message);
  await expect(page.getByRole('alert')).toContainText('409');
});

test('the account has a page of its own', async ({ page, account }) => {
  const operation = { operation: HOSTILE, perSecond: 2, before: 2_000, after: 2, requestsBefore: 21, requestsAfter: 1 };
  const comparison = { measured: true, savedPerSecond: 3_996, operations: [operation] };
  await tell(page, [finding({ comparison, try: [`--try-count ${place.database}/posts:post.commentCount=comment`] })], {
    stages: [{ title: 'in the items and their index', try: [`--try-copy ${place.database}/posts.post:/a b,/content<100`], comparison }],
  });
  await page.goto(account.url());
  await page.getByRole('link', { name: 'Advice', exact: true }).first().click();
  await expect(page).toHaveURL(/#\/advice$/);
  await look(page).click();
  const card = page.locator('.advice-finding').first();
  await expect(card.getByText('the bars are on a logarithmic scale')).toBeVisible();
  await expect(card.getByRole('link', { name: `${place.database}/posts` })).toHaveAttribute('href', `#/db/${place.database}/c/posts/advice`);
  await card.getByText('How it is done: a count that is kept').click();
  await expect(card).toContainText('function createComment(hostId, item)');
  await expect(card).toContainText('[.pk]');
  await expect(page.getByRole('region', { name: 'All of it', exact: true })).toContainText(`--try-copy '${place.database}/posts.post:/a b,/content<100'`);
  await page.getByLabel('Container', { exact: true }).fill('no-such/container');
  await page.getByLabel('Paths of the key').fill('/a');
  await page.unroute('**/_armilla/advice');
  await page.getByRole('button', { name: 'Try it', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('there is no container of that name');
  await expectAccessible(page);
});

test('who may only read looks, and applies nothing', async ({ page }) => {
  const key = Buffer.from('a key that reads').toString('base64');
  const server = await startAccount(['--read-only-key', key]);
  try {
    const account = new Account(server.url);
    const database = await account.database();
    await account.container(database, 'posts');
    const signedIn = await page.request.post(`${server.url}/_explorer/session`, { data: { key } });
    const { csrf } = (await signedIn.json()) as { csrf: string };
    await page.addInitScript((token) => localStorage.setItem('armilla.session', token), csrf);
    await page.goto(account.url(`#/db/${database}/c/posts/advice`));
    await expect(page.getByRole('button', { name: 'Forget the record…' })).toHaveCount(0);
    await look(page).click();
    await expect(page.getByRole('region', { name: 'No requests yet' })).toBeVisible(LOOK);
    await tell(page, [finding({ container: `${database}/posts`, indexingPolicy: { indexingMode: 'consistent' } })]);
    await page.getByRole('button', { name: 'Look again' }).click();
    await expect(page.getByText('applying it takes the key of the account')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Apply…' })).toHaveCount(0);
  } finally {
    await server.stop();
  }
});

test('a hint of a query is estimated', async ({ page, account }) => {
  await use(account);
  await openQuery(page, account, place);
  await write(page, "SELECT * FROM c WHERE c.type = 'post' ORDER BY c.type, c.date DESC");
  await page.keyboard.press('ControlOrMeta+Enter');
  const hint = page.locator('.query-hints > li');
  const estimate = hint.getByRole('button', { name: 'Estimate' });
  await estimate.click();
  await expect(hint).toContainText('for all recorded requests of the container together', LOOK);

  const operation = `${place.database}/posts: SELECT * FROM c WHERE (c.type = @1) ORDER BY c.type, c.date DESC`;
  const line = { operation, perSecond: 2, before: 20.1, after: 4.9, requestsBefore: 1, requestsAfter: 1 };
  await page.route('**/_armilla/advice', (route) => {
    expect(route.request().postDataJSON()).toEqual({ ...place, try: [`--try-index ${place.database}/posts:+/type,-/date`] });
    return route.fulfill({ json: { measured: true, savedPerSecond: 30.4, operations: [line] } });
  });
  await estimate.click();
  await expect(hint).toContainText('This query: 20.10 RU today, 4.90 RU with the index.');
  await expectAccessible(page);
});

test('queries are known again by their shape', () => {
  // As the server records them: crates/ledger/src/shape/tests.rs has the same.
  const same: [string, string][] = [
    ['select * from c', 'SELECT * FROM c'],
    ["SELECT * FROM c WHERE c.userId = 'u1' AND c.n > 5.5", 'SELECT * FROM c WHERE ((c.userId = @1) AND (c.n > @2))'],
    ["SELECT c.a, c.b * 100 AS b, 'x' AS x\nFROM c -- all\n WHERE c.a = @a", 'SELECT c.a, (c.b * @1) AS b, @2 AS x FROM c WHERE (c.a = @3)'],
    ["SELECT * FROM c WHERE c['a b'][0] = 'v' OFFSET 20 LIMIT 10", 'SELECT * FROM c WHERE (c["a b"][0] = @1) OFFSET 20 LIMIT 10'],
    ["SELECT * FROM c WHERE c['a'].b <> null", 'SELECT * FROM c WHERE (c.a.b != null)'],
    ["SELECT * FROM c WHERE c.id IN ('a', 'b', 3, null) AND c.x NOT IN (@a, @b)", 'SELECT * FROM c WHERE ((c.id IN (@1)) AND (c.x NOT IN (@2)))'],
    ["SELECT * FROM c WHERE ARRAY_CONTAINS([1, 2], c.n) AND ARRAY_CONTAINS(c.t, {name: 'x'}, true)", 'SELECT * FROM c WHERE (ARRAY_CONTAINS(@1, c.n) AND ARRAY_CONTAINS(c.t, {"name": @2}, true))'],
    ['SELECT * FROM c WHERE c.n BETWEEN 1 AND 2 AND udf.f(-1)', 'SELECT * FROM c WHERE ((c.n BETWEEN @1 AND @2) AND udf.f(@3))'],
    ['SELECT VALUE COUNT(1) FROM c', 'SELECT VALUE COUNT(1) FROM c'],
    ['SELECT TOP 10 * FROM c ORDER BY c.a ASC, c.b DESC', 'SELECT TOP 10 * FROM c ORDER BY c.a, c.b DESC'],
  ];
  for (const [text, shape] of same) expect(isSameShape(text, shape), text).toBe(true);
  const others: [string, string][] = [
    ['SELECT TOP 10 * FROM c', 'SELECT TOP 20 * FROM c'],
    ['SELECT * FROM c WHERE c.a = 1', 'SELECT * FROM c WHERE (c.b = @1)'],
    ['SELECT * FROM c ORDER BY c.a', 'SELECT * FROM c ORDER BY c.a DESC'],
    ['SELECT * FROM c WHERE c.done = true', 'SELECT * FROM c WHERE (c.done = false)'],
  ];
  for (const [text, shape] of others) expect(isSameShape(text, shape), text).toBe(false);
});

test('options are read and written, and names stay one word of a shell', () => {
  for (const option of [
    '--try-key posts:/userId,/id',
    '--try-index blog/posts:+/type,-/creationDate',
    '--try-index posts:exclude=/content/?,/title/?',
    '--try-index posts:include=/content/?',
    '--try-embed posts.post:/userId=blog/users:/username,/mail',
    '--try-count posts:post.commentCount=comment',
    '--try-copy posts.post:/userId,/content<100',
    '--try-newest posts.post:/creationDate,100,/content<100',
  ]) {
    const change = parseOption(option);
    expect(change, option).not.toBeNull();
    if (change) expect(optionOf(change)).toBe(option);
  }
  for (const option of ['', '--try-other posts:/a', '--try-key posts', '--try-embed posts:/a', '--try-newest posts:/a,1']) {
    expect(parseOption(option), option).toBeNull();
  }
  expect(word('blog/posts:/a')).toBe('blog/posts:/a');
  expect(word("it's; rm -rf $HOME")).toBe(`'it'\\''s; rm -rf $HOME'`);
  expect(word('\u001b[201~')).toBe(`$'\\u001b[201~'`);
});

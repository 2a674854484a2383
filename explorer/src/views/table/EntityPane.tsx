//! One entity: looked at, changed, deleted, or made.

import { useState } from 'preact/hooks';

import { ApiError } from '../../api/client';
import { deleteEntity, EDM_TYPES, insertEntity, readEntity, writeEntity, type EdmType, type Entity, type Property } from '../../api/table';
import { can, useUnsaved } from '../../shell/state';
import { Button, confirm, Choice, Field, Input, Problem, ru, Select, toast } from '../../ui';
import { firstText, wrongWith } from './values';

export interface EntityPaneProps {
  table: string;
  /** Null for a new one. */
  entity: Entity | null;
  onClose(): void;
  /** It was read anew. */
  onRead(entity: Entity): void;
  onGone(): void;
  onMade(): void;
}

const TYPES = EDM_TYPES.map((type) => [type, type] as const);
const isSame = (a: Property, b: Property) => a.name === b.name && a.type === b.type && a.text === b.text;
const cost = (charge: number | null) => (charge === null ? '' : ` ${ru(charge)} RU.`);

export function EntityPane({ table, entity, onClose, onRead, onGone, onMade }: EntityPaneProps) {
  const before = entity?.properties ?? [];
  const [keys, setKeys] = useState({ partitionKey: entity?.partitionKey ?? '', rowKey: entity?.rowKey ?? '' });
  const [properties, setProperties] = useState<Property[]>(before);
  const [how, setHow] = useState<'merge' | 'replace'>('merge');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const mayWrite = can('write');

  const changed = properties.filter((one) => !before.some((old) => isSame(old, one)));
  const isRemoved = before.some((old) => !properties.some((one) => one.name === old.name));
  const isChanged = changed.length > 0 || isRemoved || (entity === null && (keys.partitionKey !== '' || keys.rowKey !== ''));
  useUnsaved(isChanged && !isBusy, entity ? `the entity ${entity.rowKey}` : 'a new entity');
  const wrong = properties.map((one) => wrongWith(one, properties)).find((one) => one !== null) ?? null;
  const missing = keys.partitionKey === '' || keys.rowKey === '';
  const isNothing = entity !== null && how === 'merge' && changed.length === 0;

  const during = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  const readAgain = async (one: Entity) => onRead(await readEntity(table, one));
  const save = () =>
    during(async () => {
      if (!entity) {
        const charge = await insertEntity(table, keys, properties);
        toast(`The entity is inserted.${cost(charge)}`, 'good');
        onMade();
        return;
      }
      const charge = await writeEntity(table, entity, how, how === 'merge' ? changed : properties);
      toast(`The entity is ${how === 'merge' ? 'merged' : 'replaced'}.${cost(charge)}`, 'good');
      await readAgain(entity);
    });
  const remove = async (one: Entity) => {
    const isSure = await confirm({
      title: 'Delete the entity?',
      text: `${one.partitionKey} / ${one.rowKey} will be gone for good.`,
      action: 'Delete',
      danger: true,
    });
    if (!isSure) return;
    await during(async () => {
      const charge = await deleteEntity(table, one);
      toast(`The entity is deleted.${cost(charge)}`, 'good');
      onGone();
    });
  };
  const set = (at: number, change: Partial<Property>) =>
    setProperties(properties.map((one, index) => (index === at ? { ...one, ...change } : one)));

  return (
    <section class="entity" aria-label={entity ? 'Chosen entity' : 'New entity'}>
      <div class="row entity-head">
        <h2 class="grow ellipsis">{entity ? `${entity.partitionKey} / ${entity.rowKey}` : 'New entity'}</h2>
        <Button kind="ghost" small onClick={onClose}>
          Close
        </Button>
      </div>
      <form
        class="entity-body"
        onSubmit={(event) => {
          event.preventDefault();
          if (mayWrite && wrong === null && !missing && !isNothing) void save();
        }}
      >
        {!entity && (
          <div class="entity-keys">
            <Field label="PartitionKey">
              <Input value={keys.partitionKey} onInput={(partitionKey) => setKeys({ ...keys, partitionKey })} />
            </Field>
            <Field label="RowKey">
              <Input value={keys.rowKey} onInput={(rowKey) => setKeys({ ...keys, rowKey })} />
            </Field>
          </div>
        )}
        {properties.length > 0 && (
          <ul class="entity-rows" aria-label="Properties">
            {properties.map((one, at) => (
              <PropertyRow
                key={at}
                property={one}
                number={at + 1}
                isFixed={before.some((old) => old.name === one.name) || !mayWrite}
                isReadOnly={!mayWrite}
                onChange={(change) => set(at, change)}
                onRemove={() => setProperties(properties.filter((_, index) => index !== at))}
              />
            ))}
          </ul>
        )}
        {mayWrite && (
          <div class="stack entity-actions">
            <div>
              <Button small onClick={() => setProperties([...properties, { name: '', type: 'String', text: '' }])}>
                Add a property
              </Button>
            </div>
            {entity && isChanged && (
              <Choice
                label="How it is written"
                value={how}
                options={[
                  ['merge', 'Merge', 'what was changed here; everything else stays, even what was removed here'],
                  ['replace', 'Replace', 'the entity has what stands here, and nothing else'],
                ]}
                onChange={setHow}
              />
            )}
            {wrong !== null && isChanged && <p class="wrong">{wrong}</p>}
            {error !== null && <Problem error={error} />}
            {error instanceof ApiError && error.status === 412 && entity && (
              <div class="notice warn">
                Somebody else has written the entity since it was read here.{' '}
                <Button small onClick={() => void during(() => readAgain(entity))}>
                  Read it again and lose the changes here
                </Button>
              </div>
            )}
            <div class="row wrap">
              <Button kind="primary" type="submit" busy={isBusy} disabled={wrong !== null || missing || !isChanged || isNothing}>
                {entity ? (how === 'merge' ? 'Merge' : 'Replace') : 'Insert'}
              </Button>
              {entity && (
                <Button kind="ghost" disabled={isBusy} onClick={() => void remove(entity)}>
                  Delete …
                </Button>
              )}
            </div>
          </div>
        )}
        {entity && <p class="dim small">Written {entity.timestamp}</p>}
      </form>
    </section>
  );
}

interface RowProps {
  property: Property;
  number: number;
  /** Its name stays: it is a property of the entity already. */
  isFixed: boolean;
  isReadOnly: boolean;
  onChange(change: Partial<Property>): void;
  onRemove(): void;
}

function PropertyRow({ property, number, isFixed, isReadOnly, onChange, onRemove }: RowProps) {
  const { name, type, text } = property;
  const called = name || `property ${number}`;
  return (
    <li>
      {isFixed ? (
        <span class="entity-name mono ellipsis" title={name}>
          {name}
        </span>
      ) : (
        <Input class="mono" aria-label={`Name of property ${number}`} placeholder="name" value={name} onInput={(next) => onChange({ name: next })} />
      )}
      <Select
        aria-label={`Type of ${called}`}
        value={type}
        options={TYPES}
        disabled={isReadOnly}
        onChange={(next: EdmType) => onChange({ type: next, text: firstText(next, text) })}
      />
      {type === 'Boolean' ? (
        <Select
          aria-label={`Value of ${called}`}
          value={text}
          options={[
            ['true', 'true'],
            ['false', 'false'],
          ]}
          disabled={isReadOnly}
          onChange={(next) => onChange({ text: next })}
        />
      ) : (
        <Input class="mono" aria-label={`Value of ${called}`} value={text} readOnly={isReadOnly} onInput={(next) => onChange({ text: next })} />
      )}
      {!isReadOnly && (
        <Button kind="ghost" small aria-label={`Remove ${called}`} onClick={onRemove}>
          ✕
        </Button>
      )}
    </li>
  );
}

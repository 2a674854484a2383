//! One value with its type.

import type { ComponentChildren } from 'preact';

import { Field, Input, Select } from '../../ui';
import { parse, type TypedValue, type ValueType } from './typed';
import './typed.css';

const NAMES: Record<ValueType, string> = {
  text: 'Text',
  number: 'Number',
  boolean: 'True or false',
  null: 'Null',
  missing: 'Missing',
  json: 'JSON',
};

export const KEY_TYPES: ValueType[] = ['text', 'number', 'boolean', 'null', 'missing'];
export const ARGUMENT_TYPES: ValueType[] = ['text', 'number', 'boolean', 'null', 'json'];

interface TypedRowProps {
  label: string;
  types: ValueType[];
  value: TypedValue;
  onChange(value: TypedValue): void;
  /** What stands behind the row, such as a button that takes it away. */
  children?: ComponentChildren;
}

export function TypedRow({ label, types, value, onChange, children }: TypedRowProps) {
  const parsed = parse(value);
  const isWrong = 'wrong' in parsed && value.text !== '';
  const change = (type: ValueType) => onChange({ type, text: type === 'boolean' ? 'true' : value.text });
  return (
    <div class="typed-row">
      <Field label={`Type of ${label}`} hideLabel>
        <Select value={value.type} options={types.map((type) => [type, NAMES[type]] as const)} onChange={change} />
      </Field>
      {value.type === 'boolean' ? (
        <Field label={label} hideLabel>
          <Select
            value={value.text === 'true' ? 'true' : 'false'}
            options={[
              ['true', 'true'],
              ['false', 'false'],
            ]}
            onChange={(text) => onChange({ ...value, text })}
          />
        </Field>
      ) : value.type === 'null' || value.type === 'missing' ? (
        <span class="typed-none">{value.type === 'null' ? 'null' : 'the item has no such property'}</span>
      ) : (
        <Field label={label} hideLabel error={isWrong && 'wrong' in parsed ? parsed.wrong : null}>
          <Input
            value={value.text}
            placeholder={label}
            class="mono"
            onInput={(text) => onChange({ ...value, text })}
          />
        </Field>
      )}
      {children}
    </div>
  );
}

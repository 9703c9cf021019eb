# frozen_string_literal: true

require "date"
require "json"
require "set"

# Lends seeds to gardeners, who bring back some of what they harvest.
class SeedLibrary
  class UnknownVariety < StandardError; end
  class NotEnoughSeed < StandardError; end

  Packet = Struct.new(:variety, :grams, :harvested_on, keyword_init: true) do
    def viable?(today = Date.today)
      (today - harvested_on).to_i < variety.keeps_for_days
    end
  end

  Loan = Struct.new(:gardener, :variety, :grams, :due_on, keyword_init: true)

  attr_reader :loans

  def initialize(packets = [])
    @packets = Hash.new { |hash, name| hash[name] = [] }
    @loans = []
    @members = Set.new
    packets.each { |packet| store(packet) }
  end

  def store(packet)
    @packets[packet.variety.name] << packet
    @packets[packet.variety.name].sort_by!(&:harvested_on)
    self
  end

  def join(gardener)
    @members.add?(gardener) or raise ArgumentError, "#{gardener} is a member already"
  end

  # Hands out the oldest seed that still sprouts: it would not keep for another year.
  def lend(gardener, name, grams)
    raise ArgumentError, "#{gardener} is not a member" unless @members.include?(gardener)

    packets = @packets.fetch(name) { raise UnknownVariety, name }
    left = grams
    packets.select(&:viable?).each do |packet|
      taken = [packet.grams, left].min
      packet.grams -= taken
      left -= taken
      break if left.zero?
    end
    raise NotEnoughSeed, "#{name}: #{left} g are missing" if left.positive?

    packets.reject! { |packet| packet.grams.zero? }
    loan = Loan.new(gardener: gardener, variety: name, grams: grams, due_on: Date.today >> 14)
    @loans << loan
    loan
  end

  def return_from(gardener, packet)
    loan = @loans.find { |each| each.gardener == gardener && each.variety == packet.variety.name }
    raise ArgumentError, "#{gardener} has borrowed no #{packet.variety.name}" if loan.nil?

    loan.grams -= packet.grams
    @loans.delete(loan) if loan.grams <= 0
    store(packet)
  end

  def overdue(today = Date.today)
    @loans.select { |loan| loan.due_on < today }.sort_by(&:due_on)
  end

  def stock
    @packets.transform_values do |packets|
      packets.select(&:viable?).sum(&:grams)
    end
  end

  def to_json(*options)
    {
      stock: stock,
      loans: @loans.map(&:to_h),
      members: @members.to_a.sort
    }.to_json(*options)
  end

  def report(out = $stdout)
    width = stock.keys.map(&:length).max || 0
    stock.sort.each do |name, grams|
      mark = grams < 20 ? "!" : " "
      out.puts format("%s %-#{width}s %6.1f g", mark, name, grams)
    end
    overdue.each do |loan|
      out.puts "#{loan.gardener} owes #{loan.grams} g of “#{loan.variety}” since #{loan.due_on}"
    end
  end
end

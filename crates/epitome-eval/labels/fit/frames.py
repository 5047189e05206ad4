"""Sentences as a model writes them that plays a customer: frames with slots, filled by a fixed seed."""
import random, re
R=random.Random(7)
S={
'item':['the desk lamp','the headphones','the hiking boots','the jigsaw puzzle','the water bottle','the backpack','the mechanical keyboard','the office chair','the air purifier','the smart watch','the tablet','the bookshelf','the skateboard','the t-shirt','the running shoes','the vacuum cleaner','the coffee maker','the garden hose','the laptop','the bicycle'],
'it':['lamp','pair of headphones','pair of boots','puzzle','bottle','backpack','keyboard','chair','purifier','watch','tablet','skateboard','t-shirt','vacuum','camera','speaker'],
'col':['blue','black','red','silver','white','green','purple'],
'att':['size','color','material','capacity','style','switch type','brightness','difficulty level','storage'],
'money':['$50','$100','$150','$200','$250','$300','$500','$650','$800','$1000','$1,000','$1,200','$2000','100 dollars','five hundred dollars'],
'city':['Boston','Chicago','Denver','Seattle','Houston','Miami','New York','Philadelphia','Phoenix','Los Angeles','Dallas','Atlanta','San Francisco','Las Vegas','Charlotte','Detroit','Orlando'],
'time':['6 am','7 AM','8 am','9 AM','10 am','11 AM','noon','1 pm','3 PM','4 pm','6 pm','7 PM','9 pm','10:00 PM'],
'date':['May 12','May 20','May 23rd','May 28','June 3','the 14th','the 21st','next Friday','Saturday','Monday'],
'card':['Visa','Mastercard','gift card','travel certificate','credit card ending in 4421','card ending in 7238','PayPal account','certificate'],
'seat':['economy','business class','basic economy','first class'],
'code':['XEHM4B','H9ZU1C','3RK2T9','W2318','#W5490111','OBUT9V','JG7FMM','#W2378156','NQNU5R'],
'name':['Sofia','Noah','Emma','Liam','Olivia','Ethan','my wife','my husband','my brother','my daughter','my sister'],
'flight':['the nonstop flight','the earlier flight','the second option','the first one','flight HAT170','flight HAT083','the cheapest option','the later one','the morning flight'],
'thing':['flight','reservation','booking','trip','itinerary','order'],
'addr':['the address on file','445 Maple Drive','my new address','the same address','my default address'],
'id':['mei_kovacs_8020','yusuf_rossi_9620','aarav_ahmed_6699','emma_kim_9957','raj_sanchez_7340'],
'zip':['19122','28236','80279','90274'],
}
POS="""
I'm only willing to do this if the total cost is under {money}.
I'd only like to proceed if it costs less than {money}.
I don't want to spend more than {money} on this.
I'd like to keep the total under {money}, if possible.
My budget for this is {money}.
My budget is {money}, so please don't go over that.
I'm willing to pay up to {money} for the change.
I can go up to {money} for the upgrade, but not more.
I'm okay paying the difference as long as it's no more than {money}.
As long as the price difference stays below {money}, please go ahead.
If the cost is more than {money}, I'd rather not make any changes.
If it's over {money}, I don't want to go ahead with it.
If the total goes above {money}, I won't be able to proceed with the change.
I would only want to do this if there's no additional cost.
I don't want to pay any extra fees for this.
I don't want to pay anything extra, so please only make the change if it's free.
I'm not willing to pay a fee for the change.
I'd prefer not to pay any additional charges.
I'd like to do this without paying any additional fees.
If there's any fee for the cancellation, I don't want to cancel.
If I can't get a full refund, I don't want to cancel it.
I only want to cancel if I can get a refund.
I only want to cancel the {thing} if it's fully refundable.
Please only cancel it if I'd receive a full refund.
If a refund isn't possible, please leave the {thing} as it is.
If that isn't possible, I'd prefer to keep my {thing} as it is.
If it can't be refunded, I'd rather keep it.
Otherwise, I don't want to make any changes to the {thing}.
Otherwise, please keep everything as it is.
I want to keep the rest of the {thing} exactly as it is.
I'd like everything else to stay the same.
I want everything else about the {it} to remain the same.
All the other details should stay exactly the same.
Please keep all the other details unchanged.
Please make sure nothing else on the {thing} changes.
Please don't change anything else on my {thing}.
I don't want any other changes made to the {thing}.
I don't want to change anything else, just the {att}.
I only want to change the {att}, nothing else.
I just want to change {item}, and keep the other items the same.
I want to keep the same {att} and only switch the {att}.
I'd like it to be the same {att} as the one I have now.
The new one needs to have the same {att} as my original.
It needs to match the {att} of the one I already have.
I'd like a different {it}, but it has to be the same {att}.
I don't want to change the dates, only the cabin.
I'd like to upgrade to {seat} without changing the flights.
Could you help me change the flight without changing the cabin class?
Can you switch {item} without affecting the other items in the order?
Could you do that without canceling the rest of my order?
Can we do this without transferring me to someone else?
Could you change just the outbound flight and leave the return flight as it is?
I don't want to lose my original seat selection.
I want to keep my return flight the same.
Please leave my return flight as it is.
I don't want to cancel the whole order, just {item}.
I don't want to cancel my {thing}, I only want to change it.
I don't want to return the other items, just {item}.
I only want to return {item}, not the rest of the order.
I'd really prefer not to speak with another agent.
I'd rather not be transferred to a human agent.
I really don't want to be transferred again.
I'd rather handle this with you than be transferred.
Please don't transfer me to another agent.
I don't want to be transferred, so please find a way to do this here.
I'd prefer not to have to give my email address.
I'd rather not share that information.
I'm not comfortable sharing my payment details over chat.
I'm not comfortable giving out my date of birth.
I don't want to provide any more personal information than I need to.
I prefer a flight that leaves after {time}.
I prefer flights that depart in the morning.
I'd prefer flights that arrive before {time}.
I'd prefer to depart after {time}, if possible.
I'd prefer a direct flight, and I don't want to leave before {time}.
I don't want to fly before {time}.
I don't want to leave earlier than {time}.
I don't want any flights that arrive after {time}.
I don't want a layover longer than two hours.
I do not want any flights with a layover in {city}.
It needs to be a direct flight that departs after {time}.
It must be a nonstop flight.
It has to be a nonstop, since I can't miss my connection.
I need to arrive in {city} before {time}.
I need to be in {city} by {time} at the latest.
I have to be back in {city} by {date}.
The flight has to arrive no later than {time}.
I can't leave before {time}, so anything earlier won't work for me.
Neither of those works, since I need to arrive before {time}.
That won't work for me because I can't fly before {time}.
I'm looking for the cheapest flight, but it has to depart after {time}.
I'm open to other dates as long as it's the same week.
I'm flexible on the time as long as I arrive by {time}.
Any {seat} flight is fine, as long as it's on {date}.
I'm fine with any color, as long as it isn't {col}.
I'm open to a different model as long as it's cheaper.
I'd like the refund to go back to my original payment method only.
I want the refund to go to my original payment method, not to a gift card.
I don't want store credit, only a refund to my original card.
I'd prefer a refund to my card rather than a travel certificate.
I don't want the refund in the form of a gift card.
Please make sure the refund goes to the original payment method.
Please make sure to use my {card} for all of these changes.
I'd prefer to use my {card} for any charges.
I'd like any difference to be charged to my {card}.
Please put any extra costs on my {card}.
Please use the {card} for everything.
I'd like to use my gift cards first, then my {card} for the rest.
I want to use up my certificates before anything is charged to my credit card.
I don't want to use my credit card for this.
I'd rather not use my {card}.
Please don't charge my credit card.
I can only pay with the {card}.
I don't want anything charged without my confirmation.
Before you make any changes, please tell me the total cost.
Please let me know the total before you charge anything.
Please confirm the details with me before you process anything.
Please don't process anything until I confirm.
Please don't cancel anything until I've seen the refund amount.
Please check with me before you book anything.
I'd like to see all the options before you make any changes.
I want to make sure I get a full refund before I cancel anything.
I want to make sure that no other items are affected.
I want to make sure the dates stay the same.
I want to make sure we're all seated on the same flight.
I just need to make sure it doesn't cost me anything extra.
I need all of us to be on the same flight.
All three of us have to travel together.
We need to stay on the same flights.
I want the same cabin for all passengers.
It's important that the dates stay the same.
It's really important to me that {item} arrives before {date}.
I can't wait longer than a week, so it has to be in stock.
It must be available right now.
I only want items that are currently in stock.
I only want a {it} that's water resistant.
I'd only be interested in a {col} one.
I'm only interested in a full refund.
I'm not interested in a travel certificate.
I'm not interested in store credit, only a full refund.
I won't accept anything less than a full refund.
I don't want {seat} under any circumstances.
I don't want to downgrade, no matter what.
If only one of them can be exchanged, please exchange {item}.
If I can only do one, I'd rather do the exchange.
If I can't exchange both, I'd rather not exchange either.
If both can't be done at once, please don't do either.
If {item} isn't available in {col}, I'd prefer not to exchange it at all.
If there's no nonstop available, please keep my current flight.
Unless it's free, please leave it as it is.
I'd like to avoid any layovers.
I'd like to avoid paying extra.
Please avoid any flights with a connection in {city}.
Please keep the total as low as possible.
Please keep your answers short, I'm in a hurry.
Please give me just the numbers, without the explanations.
Please always tell me the price in dollars.
From here on, please just use my {card} for everything.
For all of these, please use the same payment method.
For each of these, the refund should go to the original card.
The total needs to stay within {money}.
The exchange shouldn't cost more than {money}.
The replacement can't be more expensive than the original.
The new flight shouldn't cost more than my current one.
No more than {money}, please.
Nothing that leaves before {time}, please.
Only nonstop flights, please.
Just the outbound, please, and leave the return alone.
I have a strict budget of {money} for this.
I have a limit of {money}.
I can't afford more than {money}.
I'm on a tight budget, so I need the cheapest option.
The most I can spend is {money}.
My maximum is {money} in total.
I'd like to stay within {money}.
I need the total to be under {money}.
Could you make sure that no additional charges are applied?
Could you make sure that the rest of the order stays the same?
Could you please make sure it doesn't cost more than {money}?
Can you make sure the refund only goes to my original payment method?
Can you make sure nothing else gets changed?
Please ensure that the new {it} has the same features as the old one.
Please ensure that the other items are not affected.
Please ensure the refund goes back to the original payment method.
Could you please ensure there are no extra fees?
Is it possible to do this without any extra cost?
Can you change it without any additional charges?
Would you be able to do it without cancelling the other items?
Can you find me one that's under {money} and arrives before {time}?
My priority is the lowest price.
My main priority is to keep the cost down.
My preference is for flights after {time}.
My preference is to get a full refund rather than a certificate.
The most important thing for me is that it's the same {att}.
What matters most to me is arriving before {time}.
I want to minimize the cost.
I want to keep the cost as low as possible.
I'd like to save as much as possible, so please always pick the cheapest option.
I'd like the same {seat} cabin as before.
I'd like the new one to have the same {att} as the original.
I want the replacement to be the same {att}, {att} and {att}.
I'd like to keep the same flight times.
I would like to keep my seat and my bags as they are.
I need a flight with no layovers.
I need a flight that arrives before {time}.
I need it by {date} at the latest.
I need to leave after {time} because of work.
I must be back by {date}.
I must arrive before {time}.
We'd like to sit together on all flights.
We have to be on the same flight.
I am only interested in the ones that are available now.
I am only looking for nonstop flights.
I am not willing to cancel without a refund.
I am not willing to pay more than {money}.
I don't want to lose the insurance on this {thing}.
I don't want to lose my refund.
I don't want to end up paying more than I already did.
I don't want the {thing} cancelled unless I get the money back.
It should be the same {att} and at least as good as the old one.
It should have at least 8 hours of battery life.
The new {it} should be under {money}.
The new {it} has to be {col}, with the same {att}.
The flight should be nonstop and leave after {time}.
The payment should be split, with the gift card used first.
For payment, I'd like to use the certificates first and then the {card}.
I'd like to use as much of the gift card balance as possible before charging my {card}.
I'd like to split the payment, with the smaller gift card first.
All charges should go to my {card}.
Everything should be refunded to my {card}, not to a gift card.
If there are several options, I'd always prefer the earliest one.
If there are multiple options, please choose the cheapest one.
If more than one is available, please pick the cheapest.
If the exchange isn't possible, I don't want a refund in store credit.
If the exchange isn't possible, I'd like to keep the item.
If you can't find one under {money}, please leave it.
If there's nothing before {time}, I'd rather not change it.
If it costs anything, then no.
I would appreciate it if you could keep this brief.
I'd appreciate it if you didn't transfer me.
I'd appreciate not being charged anything before I confirm.
I'd be willing to take another color as long as the {att} is the same.
I'd be fine with a later flight as long as it's nonstop.
I could accept a voucher, but only for the full amount.
Just to be clear, I only want {item} returned, nothing else.
I want to be clear that I don't want to change the return flight.
"""
NEG="""
I'd like to cancel my {thing}.
I'd like to cancel my reservation {code}.
I would like to return {item}.
I would like to exchange {item} for a different one.
I'd like to exchange {item} for one in {col}.
I'd like to exchange it for the {col} one with the larger {att}.
I want to exchange it for a {it} with a different {att}.
I want to change the {att} of {item}.
I need to change my flight from {city} to {city}.
I need to change my {thing} to {date}.
I'd like to change my {thing} to a flight on {date}.
I'd like to upgrade my {thing} to {seat}.
I'd like to book a one-way flight from {city} to {city} on {date}.
I'm looking to book a flight from {city} to {city}.
I'm looking for the cheapest {seat} flight to {city}.
I want to add a checked bag to my reservation.
I'd like to add two checked bags to the reservation.
I'd like to remove {name} from the reservation.
I need to update the passenger name on {code}.
I'd like to update the shipping address to {addr}.
I'd like to change the default address on my account.
Could you help me with that?
Could you please help me with this?
Could you please check the status of my order?
Could you please look up my order with that information?
Can you tell me how much the difference would be?
Can you tell me what options are available?
Could you tell me the price of each option?
Can you check if there's a flight that leaves after {time}?
Are there any direct flights that depart after {time}?
Is there anything available for under {money}?
Is there a cheaper option on the same day?
Is there any way to do this without paying a fee?
Is there any way around that policy?
Is there anything else you can do for me?
Do I have to pay anything extra?
Will I have to pay for the bags?
Would the refund go back to my original payment method?
How much would it cost in total?
How long will the refund take?
What would the total refund be?
What's the cheapest option you have?
Which of these is the cheapest?
Can I use my gift card for that?
Can I pay with my {card}?
Can I use two certificates for one booking?
Could you make an exception just this once?
Is it possible to make an exception, given the circumstances?
No, I don't want travel insurance.
No, I don't need travel insurance for this trip.
No travel insurance, please.
I don't need any insurance, thank you.
I do not need any checked bags.
No, I don't have any checked bags.
No, I won't be needing any bags.
No, I don't need anything else.
No, that's everything I needed.
No, that will be all.
No, thank you, I don't want a travel certificate.
No, I'd like to keep it as is.
No, I don't want to change anything else, thank you.
No, I'd rather have the {col} one.
No, I'd prefer {flight}.
I'd prefer {flight}, please.
I'd rather go with {flight}.
I'd prefer the {col} one.
I prefer the {col} one, please.
I'd prefer {seat} for this booking.
I prefer {seat}.
I prefer window seats, but it doesn't matter here.
I'll take {flight}.
I'll go with {flight}, please.
Let's go with {flight}.
Let's proceed with {flight}.
I think I'll go with the {col} one.
{flight} works for me.
{flight} sounds good, please book that one.
Please book {flight} for me.
Please go ahead and book {flight}.
Please go ahead with the cancellation.
Please go ahead and process the exchange.
Please proceed with the return.
Please proceed with the upgrade.
Yes, please go ahead.
Yes, I confirm.
Yes, I'd like to proceed with the cancellation.
Yes, I'd like to go ahead with that.
Yes, please proceed with the changes.
Yes, please cancel both of them.
Yes, please process the exchange with the original payment method.
Yes, that is correct.
Yes, that works for me.
Yes, please use the {card}.
Please use my {card} for the payment.
I'll use my {card}.
I'd like to pay with my {card}.
Please charge it to the {card}.
The refund can go to my {card}.
Please refund it to my {card}.
I'd like the refund to go to my {card}, please.
You can use the {card} on file.
Let's use the {card} then.
In that case, I'll keep the {thing}.
In that case, I'd like to cancel it instead.
In that case, please cancel {item} as well.
In that case, let's just upgrade {name}.
If that's the only option, please go ahead with it.
If that's possible, I'd like to do that.
If it's eligible, please go ahead and cancel it.
If so, could you please cancel it for me?
If it's not possible, could you tell me what my other options are?
If there's a cheaper option, what would that be?
If I cancel, will I get the full amount back?
If I need anything else, I'll let you know.
If I change my mind, can I still cancel later?
If you need my email, it's on my account.
If you need any more information, just let me know.
Please let me know if you need anything else.
Please let me know what you find.
Please let me know if that's possible.
Please let me know how much I'd get back.
Please let me know what information you need from me.
I want to make sure I understand the options.
I want to know how much I'd save in total.
I just want to know the total.
I just need to know if that's possible.
I just want to confirm that everything went through.
I just want to cancel it, please.
I just want to get this sorted out.
I just need to change the date.
I only need to change the date, that's all for today.
I only have one order under that name.
I only have the order number with me.
I only booked it yesterday.
I only bought it last week.
I never received {item}.
I never got a confirmation email.
I've never had this problem before.
I always book {seat}, so this is new to me.
I always fly with you.
I'm a gold member, so I thought it would be free.
I'm a silver member.
I believe I should get the bags for free as a gold member.
I thought I could cancel within 24 hours without a fee.
I was told that the insurance would cover this.
I was told by another agent that I'd get a full refund.
I bought travel insurance for this trip.
I'm sure I have insurance on this booking.
I don't have my order number with me.
I don't have access to that email right now.
I don't remember the exact date.
I don't remember which email I used.
I don't know my user ID.
I don't think that's fair.
I don't understand why I can't get a refund.
I don't want to sound rude, but this has been frustrating.
I don't mind.
I don't mind waiting.
I can't find my confirmation number.
I can't remember which card I used.
I can't make it to the flight anymore.
I can't use {item} because it arrived broken.
I won't be able to make the trip.
I won't need {item} anymore.
I no longer need {item}.
I need to get to {city} for a wedding.
I have to travel for a family emergency.
I have a meeting in {city} that day.
I had a change of plans.
The reason is a change of plan.
The reason for the cancellation is that I ordered it by mistake.
The airline cancelled my flight to {city}.
My flight was delayed by three hours.
My name is {name} Johnson, and my zip code is {zip}.
My user ID is {id}.
My order number is {code}.
The reservation number is {code}.
Sure, my user id is {id}.
Sure, it's {code}.
It's for order {code}.
It's just me traveling.
It's for two passengers, me and {name}.
Their date of birth is 1990-04-05.
{name} is traveling with me.
We're three passengers in total.
We have two bags in total.
I have a gift card and two certificates on my account.
I have a balance of {money} on my gift card.
The total came to {money} when I booked it.
The flight was {money}, which seems like a lot.
That's more than I expected.
That's within my budget.
That's a bit over my budget.
That's too expensive for me.
That seems expensive.
That's fine with me.
That's fine, I'm okay with paying the {money}.
I'm okay with the {money} fee.
I'm okay with that.
I'm fine with {flight}.
I'm happy with that option.
I'm happy to pay the difference.
I'd be happy with a voucher.
I'd appreciate any help you can offer.
I'd appreciate it if you could check again.
I'd love to get the same one in {col}.
I would love an upgrade, if there's a way.
I understand that it's non-refundable.
I understand the policy, but I was hoping for an exception.
I understand, but this is really disappointing.
I understand there might be a fee.
I see, that's disappointing.
I see, so there's no refund at all.
Okay, I'd like to keep the original order then.
Okay, let's leave it as is, then.
Okay, please transfer me to a human agent.
Please transfer me to someone who can help.
I'd like to speak with a supervisor.
Can I speak to a human agent?
I'll have to think about it.
I'll call back later.
I'll keep the flight then.
I'll pass on the insurance.
I'll skip the insurance.
I'd also like to return {item} from the same order.
I'd also like to know my gift card balance.
I also have another order I'd like to ask about.
I also need to change the return flight to {date}.
Also, could you tell me the tracking number?
Before we continue, I have a question about my other order.
Before I decide, could you tell me the total cost?
Before that, can you check my points?
One more thing, can you check my other reservation?
Actually, I changed my mind about {item}.
Actually, can we make that {date} instead?
Actually, please make it the {col} one instead of the {col} one.
Actually, I need it to be on {date} instead.
Instead of returning it, I'd like to exchange it.
Can you exchange it for the {col} one instead?
Can you please double check that for me?
Can you confirm that the refund has been processed?
Could you confirm the total amount before taxes?
Could you please cancel {code} and refund the full amount?
Could you list all my upcoming flights?
Could you search for flights on {date} instead?
Could you also remove the extra bag?
Thank you, that's all I needed today.
Thank you so much for your help.
Thanks, I really appreciate your help with this.
Great, thank you for confirming.
Perfect, that's exactly what I wanted.
That's all, thank you.
No, I'd rather keep the credit card.
I don't want to wait any longer.
I don't want it anymore.
I don't want to keep {item}.
I don't want to keep the {thing} anymore.
I need to make sure that my order is on the way.
I need to make sure you have the right reservation.
I just want to make sure that I'm not missing anything.
Can you make sure it's been processed?
Could you make sure my request was received?
Could you please make sure the refund has been issued?
I only paid {money} for it.
I spent more than {money} on it.
The budget was not the issue.
I would like to know if I can get a refund.
I'd prefer the {col} one with the larger {att}.
I want to exchange both of them for the {col} one.
I want to use my gift card.
I want to return both of them.
I want to upgrade all of them to {seat}.
I'd like to modify all of my pending orders.
I want a refund, please.
I want a full refund for my {thing}.
I would like a full refund.
I'd like to get the cheapest available option.
I'm interested in the {col} one.
I'm interested in {flight}.
I need a refund for my cancelled flight.
I need a new {it}.
I need {item} replaced.
I need to be reimbursed for the delay.
It should be under my name.
It should be in my profile.
It must have been a mistake.
It must be under my other email.
It has to be a mistake on your side.
There must be something you can do.
There has to be a way to fix this.
That should be all.
That's the same card I used before.
It's the same address as before.
It's the same {it} I ordered last time.
If the refund has already been issued, when will I see it?
If I take {flight}, what's the total?
If both are available, could you list them?
Without the receipt, can I still return it?
The most important question is whether it's refundable.
My preference is {flight}.
My choice is the {col} one.
I was hoping to avoid a fee, but I understand.
I was charged more than {money}.
I wasn't told about any fee.
I won't need the return flight.
I can't make the {date} flight.
I cannot access my account.
"""
LEAD=['Also, ','Okay, ','Got it, ','Sure, ','Actually, ','In that case, ','Just to clarify, ','I understand, but ','Thanks, but ','Alright, ','And ','However, ','To be clear, ','For this, ','As I said, ','Additionally, ']
def fill(f):
    while True:
        m=re.search(r'\{(\w+)\}',f)
        if not m: break
        v=R.choice(S[m[1]]); f=f[:m.start()]+v+f[m.end():]
    return f[0].upper()+f[1:]
def lead(s):
    l=R.choice(LEAD); 
    keep=re.match(r"(I\b|I'|[A-Z]{2,}|Sofia|Noah|Emma|Liam|Olivia|Ethan)",s)
    return l+(s if keep else s[0].lower()+s[1:])
def make(n=3):
    out={}
    for lab,T in(('in_force',POS),('task',NEG)):
        for f in T.strip().split('\n'):
            k=n if '{' in f else 1
            for i in range(k): out.setdefault(fill(f),lab)
            if not re.match(r"(Yes|No|Sure|Okay|Also|Actually|In that|Thank|Great|Perfect|Can|Could|What|How|Is|Are|Do|Will|Would|Which)\b",f) or lab=='in_force':
                out.setdefault(lead(fill(f)),lab)
    return [('frames',lab,s) for s,lab in out.items()]
if __name__=='__main__':
    for _,lab,s in make(): print(lab+'\t'+s)
